/** OpenAI Responses: https://platform.openai.com/docs/api-reference/responses-streaming */
export const responses = {
  serves: (path) => path.endsWith("/responses"),
  offersTools: (body) =>
    (Array.isArray(body.tools) && body.tools.length > 0) ||
    (Array.isArray(body.input) && body.input.some((item) => item.type === "additional_tools")),
  toolResults: (body) =>
    (Array.isArray(body.input) ? body.input : []).filter((item) =>
      String(item.type).endsWith("_call_output"),
    ).length,
  saidTexts: (body) =>
    (Array.isArray(body.input) ? body.input : [])
      .filter((item) => item.role === "assistant")
      .map((item) => JSON.stringify(item.content)),
  error: (message) => ({ error: { type: "invalid_request_error", code: null, message } }),
  events(step, body) {
    const number = responses.toolResults(body);
    const id = `resp_${number}`;
    const items = [];
    if (step.think !== undefined)
      items.push({
        type: "reasoning",
        id: `rs_${number}`,
        summary: [{ type: "summary_text", text: step.think }],
      });
    if (step.say !== undefined)
      items.push({
        type: "message",
        role: "assistant",
        id: `msg_${number}`,
        content: [{ type: "output_text", text: step.say }],
      });
    if (step.run !== undefined)
      items.push({
        type: "function_call",
        id: `fc_${number}`,
        call_id: `call_${number}`,
        name: "exec_command",
        arguments: JSON.stringify({ cmd: step.run }),
      });
    if (step.write !== undefined)
      items.push({
        type: "custom_tool_call",
        id: `ctc_${number}`,
        call_id: `call_${number}`,
        name: "apply_patch",
        input: patchThatAdds(step.write),
      });
    return [
      { type: "response.created", response: { id } },
      ...items.map((item, index) => ({
        type: "response.output_item.done",
        output_index: index,
        item,
      })),
      {
        type: "response.completed",
        response: {
          id,
          usage: {
            input_tokens: 100,
            input_tokens_details: { cached_tokens: 40 },
            output_tokens: 10,
            output_tokens_details: { reasoning_tokens: 0 },
            total_tokens: 110,
          },
        },
      },
    ];
  },
};

function patchThatAdds({ path, content }) {
  const lines = content.replace(/\n$/, "").split("\n");
  return [
    "*** Begin Patch",
    `*** Add File: ${path}`,
    ...lines.map((line) => `+${line}`),
    "*** End Patch",
    "",
  ].join("\n");
}

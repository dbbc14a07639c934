import { CODEX, toolsOf } from "./tools.mjs";

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
    const tools = toolsOf(
      (body.tools ?? []).map((tool) => tool.name),
      CODEX,
    );
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
    if (step.run !== undefined) items.push(call(number, tools.shell(step.run)));
    if (step.write !== undefined) items.push(call(number, tools.write(step.write)));
    return [
      { type: "response.created", response: { id, created_at: 0, model: body.model } },
      ...items.flatMap(itemEvents),
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

/** Some programs take an item from its pieces, some from its end alone. */
function itemEvents(item, output_index) {
  const at = { output_index, item_id: item.id };
  const pieces = [];
  if (item.type === "message")
    pieces.push({
      type: "response.output_text.delta",
      ...at,
      content_index: 0,
      delta: item.content[0].text,
    });
  if (item.type === "reasoning")
    pieces.push(
      { type: "response.reasoning_summary_part.added", ...at, summary_index: 0 },
      {
        type: "response.reasoning_summary_text.delta",
        ...at,
        summary_index: 0,
        delta: item.summary[0].text,
      },
    );
  return [
    { type: "response.output_item.added", output_index, item: begun(item) },
    ...pieces,
    { type: "response.output_item.done", output_index, item },
  ];
}

function begun(item) {
  if (item.type === "message") return { ...item, content: [] };
  if (item.type === "reasoning") return { ...item, summary: [] };
  return item.type === "function_call" ? { ...item, arguments: "" } : item;
}

/** A tool whose input is text is a custom one. */
function call(number, { name, input }) {
  const common = { call_id: `call_${number}`, name, status: "completed" };
  return typeof input === "string"
    ? { type: "custom_tool_call", id: `ctc_${number}`, ...common, input }
    : { type: "function_call", id: `fc_${number}`, ...common, arguments: JSON.stringify(input) };
}

import { CLAUDE, toolsOf } from "./tools.mjs";

/** Anthropic Messages: https://docs.anthropic.com/en/api/messages-streaming */
export const messages = {
  serves: (path) => path.endsWith("/messages"),
  offersTools: (body) => Array.isArray(body.tools) && body.tools.length > 0,
  toolResults: (body) =>
    (Array.isArray(body.messages) ? body.messages : [])
      .flatMap((message) => (Array.isArray(message.content) ? message.content : []))
      .filter((block) => block.type === "tool_result").length,
  saidTexts: (body) =>
    (Array.isArray(body.messages) ? body.messages : [])
      .filter((message) => message.role === "assistant")
      .map((message) => JSON.stringify(message.content)),
  error: (message) => ({ type: "error", error: { type: "invalid_request_error", message } }),
  events(step, body) {
    const number = messages.toolResults(body);
    const blocks = [];
    if (step.think !== undefined)
      blocks.push({
        start: { type: "thinking", thinking: "", signature: "" },
        deltas: [
          { type: "thinking_delta", thinking: step.think },
          { type: "signature_delta", signature: "c2NyaXB0ZWQ=" },
        ],
      });
    if (step.say !== undefined)
      blocks.push({
        start: { type: "text", text: "" },
        deltas: [{ type: "text_delta", text: step.say }],
      });
    const tools = toolsOf(
      (body.tools ?? []).map((tool) => tool.name),
      CLAUDE,
    );
    if (step.run !== undefined) blocks.push(toolUse(number, tools.shell(step.run)));
    if (step.write !== undefined) blocks.push(toolUse(number, tools.write(step.write)));
    const usesTool = step.run !== undefined || step.write !== undefined;
    return [
      {
        type: "message_start",
        message: {
          id: `msg_${number}`,
          type: "message",
          role: "assistant",
          model: body.model,
          content: [],
          stop_reason: null,
          stop_sequence: null,
          usage: { input_tokens: 100, cache_read_input_tokens: 40, output_tokens: 1 },
        },
      },
      ...blocks.flatMap(blockEvents),
      {
        type: "message_delta",
        delta: { stop_reason: usesTool ? "tool_use" : "end_turn", stop_sequence: null },
        usage: { output_tokens: 10 },
      },
      { type: "message_stop" },
    ];
  },
};

function blockEvents({ start, deltas }, index) {
  const parts = deltas.map((delta) => ({ type: "content_block_delta", index, delta }));
  return [
    { type: "content_block_start", index, content_block: start },
    ...parts,
    { type: "content_block_stop", index },
  ];
}

function toolUse(number, { name, input }) {
  return {
    start: { type: "tool_use", id: `toolu_${number}`, name, input: {} },
    deltas: [{ type: "input_json_delta", partial_json: JSON.stringify(input) }],
  };
}

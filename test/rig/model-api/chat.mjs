import { OPENCODE, toolsOf } from "./tools.mjs";

/** OpenAI Chat Completions: https://platform.openai.com/docs/api-reference/chat-streaming; tools as opencode has them. */
export const chat = {
  serves: (path) => path.endsWith("/chat/completions"),
  offersTools: (body) => Array.isArray(body.tools) && body.tools.length > 0,
  toolResults: (body) => messagesOf(body).filter((message) => message.role === "tool").length,
  saidTexts: (body) =>
    messagesOf(body)
      .filter((message) => message.role === "assistant")
      .map((message) => JSON.stringify(message.content ?? "")),
  error: (message) => ({ error: { type: "invalid_request_error", code: null, message } }),
  events(step, body) {
    const number = chat.toolResults(body);
    const deltas = [{ role: "assistant", content: "" }];
    if (step.think !== undefined) deltas.push({ reasoning_content: step.think });
    if (step.say !== undefined) deltas.push({ content: step.say });
    const tools = toolsOf(
      (body.tools ?? []).map((tool) => tool.function?.name),
      OPENCODE,
    );
    if (step.run !== undefined) deltas.push(call(number, tools.shell(step.run)));
    if (step.write !== undefined) deltas.push(call(number, tools.write(step.write)));
    const usesTool = step.run !== undefined || step.write !== undefined;
    const chunk = (choices, usage) => ({
      id: `chatcmpl-${number}`,
      object: "chat.completion.chunk",
      created: 0,
      model: body.model,
      choices,
      usage,
    });
    return [
      ...deltas.map((delta) => chunk([{ index: 0, delta, finish_reason: null }], null)),
      chunk([{ index: 0, delta: {}, finish_reason: usesTool ? "tool_calls" : "stop" }], null),
      chunk([], {
        prompt_tokens: 100,
        prompt_tokens_details: { cached_tokens: 40 },
        completion_tokens: 10,
        total_tokens: 110,
      }),
      "[DONE]",
    ];
  },
  frame: (event) => `data: ${event === "[DONE]" ? event : JSON.stringify(event)}\n\n`,
};

function messagesOf(body) {
  return Array.isArray(body.messages) ? body.messages : [];
}

function call(number, { name, input }) {
  const wanted = { name, arguments: JSON.stringify(input) };
  return { tool_calls: [{ index: 0, id: `call_${number}`, type: "function", function: wanted }] };
}

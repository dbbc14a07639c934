import { GEMINI, toolsOf } from "./tools.mjs";

/** Gemini: https://ai.google.dev/api/generate-content; tools and arguments as the Gemini CLI has them. */
export const gemini = {
  serves: (path) => /\/models\/[^/]+:(?:streamG|g)enerateContent$/.test(path),
  offersTools: (body) =>
    (body.tools ?? []).some((tool) => (tool.functionDeclarations ?? []).length > 0),
  // A session that is gone on with carries its results twice.
  toolResults: (body) =>
    new Set(
      partsOf(body, "user")
        .filter((part) => part.functionResponse !== undefined)
        // Not every program names them.
        .map((part, index) => part.functionResponse.id ?? index),
    ).size,
  saidTexts: (body) => partsOf(body, "model").map((part) => JSON.stringify(part.text ?? "")),
  error: (message, status) => ({ error: { code: status, message, status: STATUS[status] } }),
  events(step, body) {
    const number = gemini.toolResults(body);
    // The program asks how hard a prompt is, to choose among models; it repeats the question until it gets JSON.
    if (body.generationConfig?.responseMimeType === "application/json")
      return [asEvent([{ text: ROUTE }], number)];
    const parts = [];
    if (step.think !== undefined) parts.push({ text: step.think, thought: true });
    if (step.say !== undefined) parts.push({ text: step.say });
    const names = (body.tools ?? []).flatMap((tool) => tool.functionDeclarations ?? []);
    const tools = toolsOf(
      names.map((tool) => tool.name),
      GEMINI,
    );
    if (step.run !== undefined) parts.push(call(number, tools.shell(step.run)));
    if (step.write !== undefined) parts.push(call(number, tools.write(step.write)));
    if (parts.length === 0) parts.push({ text: "" });
    // The API sends what it has, piece by piece.
    const events = parts.map((part) => asEvent([part], number));
    events.at(-1).candidates[0].finishReason = "STOP";
    return events;
  },
  /** `generateContent` asks for one answer that is no stream. */
  whole: (path, events) => (path.endsWith(":generateContent") ? merged(events) : undefined),
  frame: (event) => `data: ${JSON.stringify(event)}\r\n\r\n`,
};

const ROUTE = JSON.stringify({ complexity_reasoning: "scripted", complexity_score: 10 });

const STATUS = { 400: "INVALID_ARGUMENT", 401: "UNAUTHENTICATED", 429: "RESOURCE_EXHAUSTED" };

function partsOf(body, role) {
  return (Array.isArray(body.contents) ? body.contents : [])
    .filter((content) => content.role === role)
    .flatMap((content) => content.parts ?? []);
}

function call(number, { name, input }) {
  return {
    functionCall: { id: `call_${number}`, name, args: input },
    thoughtSignature: "c2NyaXB0ZWQ=",
  };
}

function merged(events) {
  const parts = events.flatMap((event) => event.candidates[0].content.parts);
  const last = events.at(-1);
  return { ...last, candidates: [{ ...last.candidates[0], content: { role: "model", parts } }] };
}

function asEvent(parts, number) {
  return {
    candidates: [{ index: 0, content: { role: "model", parts } }],
    usageMetadata: {
      promptTokenCount: 100,
      cachedContentTokenCount: 40,
      candidatesTokenCount: 10,
      totalTokenCount: 110,
    },
    modelVersion: "scripted",
    responseId: `response-${number}`,
  };
}

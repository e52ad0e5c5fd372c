// Short words for what most tests say: turns of the scripted model, and fields of a request.

export const AUTO = { type: 'code_interpreter', container: { type: 'auto' } };
// A request for code, whose outputs are shown.
export const CODE = {
  model: 'gpt-5.6-sol',
  input: 'Compute it.',
  tools: [AUTO],
  include: ['code_interpreter_call.outputs'],
};

export const code = (text) => ({ items: [{ code: text }] });
export const say = (text, fields = {}) => ({ items: [{ text }], ...fields });
export const types = (things) => things.map((thing) => thing.type);
export const calls = (response) => response.output.filter((item) => item.type === 'code_interpreter_call');
/** What the code printed, all calls together. */
export const logs = (response) => calls(response).flatMap((call) => call.outputs.map((output) => output.logs)).join('');

export async function all(iterable) {
  const things = [];
  for await (const thing of iterable) things.push(thing);
  return things;
}

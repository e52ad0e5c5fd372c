// OpenAI's Agents SDK with its code interpreter tool.

import assert from 'node:assert/strict';
import { Agent, OpenAIProvider, Runner, codeInterpreterTool } from '@openai/agents';
import { scripted } from './programs.mjs';
import { all, code, say } from './words.mjs';

const talk = [code('kept = 42\nprint(kept)'), say('It is 42.'), code('print(kept + 1)'), say('It is 43.')];

scripted('an agent runs, and goes on with a stream', talk, async (client) => {
  const modelProvider = new OpenAIProvider({ openAIClient: client, useResponses: true });
  const runner = new Runner({ modelProvider, tracingDisabled: true });
  const tools = [codeInterpreterTool({ container: { type: 'auto' } })];
  const agent = new Agent({ name: 'Reckoner', model: 'gpt-5.6-sol', tools });
  const first = await runner.run(agent, 'Reckon.');
  assert.equal(first.finalOutput, 'It is 42.');
  assert.ok(first.newItems.some((item) => item.rawItem.name === 'code_interpreter_call'));
  const second = await runner.run(agent, [...first.history, { role: 'user', content: 'And one more?' }], { stream: true });
  const events = await all(second);
  await second.completed;
  assert.equal(second.finalOutput, 'It is 43.');
  const called = events.filter((event) => event.item?.rawItem?.name === 'code_interpreter_call');
  assert.equal(called.length, 1);
});

/** Cached tokens beside the prompt, and reasoning inside or outside of output and total. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readChatUsage } from '../../../server/wire/dialects/chat/read-usage.ts'

const PROMPT = 12
const OUTPUT = 5

/** Returns the output that is read. */
function read(cached: number, reasoning: number, total: number): number | undefined {
  const usage = {
    prompt_tokens: PROMPT,
    completion_tokens: OUTPUT,
    total_tokens: total,
    prompt_tokens_details: { cached_tokens: cached },
    completion_tokens_details: { reasoning_tokens: reasoning },
  }
  return readChatUsage({ usage }).usage?.output_token
}

for (const [cached, reasoning] of [
  [300, 100],
  [100, 300],
  [100, 101],
] as const) {
  test(`${reasoning} tokens of reasoning beside ${cached} cached ones`, () => {
    const sum = PROMPT + OUTPUT
    assert.equal(read(cached, reasoning, sum + reasoning), OUTPUT + reasoning, 'in the total alone')
    assert.equal(
      read(cached, reasoning, sum + cached + reasoning),
      OUTPUT + reasoning,
      'both in it',
    )
    assert.equal(read(cached, reasoning, sum + cached), OUTPUT, 'reasoning is a part of the output')
    assert.equal(read(cached, reasoning, sum), OUTPUT, 'neither is in it')
  })
}

for (const [name, written, total, output] of [
  ['the total leaves out written tokens', 100, 417, 105],
  ['the total has three more', 0, 420, 108],
] as const) {
  test(`reasoning in the output beside cached tokens: ${name}`, () => {
    const usage = {
      prompt_tokens: PROMPT,
      completion_tokens: 105,
      total_tokens: total,
      prompt_tokens_details: { cached_tokens: 300, cache_write_tokens: written },
      completion_tokens_details: { reasoning_tokens: 100 },
    }
    assert.equal(readChatUsage({ usage }).usage?.output_token, output)
  })
}

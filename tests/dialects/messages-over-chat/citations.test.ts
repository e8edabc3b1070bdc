/** Sources of a chat answer as citations of the messages format. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  createMessagesBody,
  createMessagesStream,
} from '../../../server/wire/dialects/messages-over-chat/writer.ts'
import { run } from '../replay.ts'
import { answerOptions } from './answer-options.ts'
import { askAnthropic } from './ask-anthropic.ts'
import { messagesOf } from './translate.ts'

const source = (url: string, more: object = {}) => ({
  type: 'url_citation',
  url_citation: { start_index: 0, end_index: 2, url, ...more },
})
const ANNOTATIONS = [
  source('https://a.example', { title: 'A', content: 'a passage' }),
  source('https://b.example'),
  { type: 'file_citation', file_citation: { file_id: 'f' } },
]
const location = (url: string, title: string | null, cited_text: string) => {
  return { type: 'web_search_result_location', url, title, cited_text, encrypted_index: '' }
}
const CITATIONS = [
  location('https://a.example', 'A', 'a passage'),
  location('https://b.example', null, ''),
]
const CONTENT = [{ type: 'text', text: 'hi there', citations: CITATIONS }]

test('a whole answer', () => {
  const message = { role: 'assistant', content: 'hi there', annotations: ANNOTATIONS }
  const choices = [{ index: 0, message, finish_reason: 'stop' }]
  const relay = createMessagesBody(answerOptions())
  const body = run(relay, [Buffer.from(JSON.stringify({ object: 'chat.completion', choices }))])
  assert.deepEqual(JSON.parse(body).content, CONTENT)
})

test('a stream, as the SDK reads it; without a text they belong to nothing', async () => {
  const chunk = (delta: object, finish_reason: string | null = null) =>
    `data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason }] })}\n\n`
  const [first, ...rest] = ANNOTATIONS
  const body =
    chunk({ annotations: ANNOTATIONS }) +
    chunk({ content: 'hi ' }) +
    chunk({ content: 'there', annotations: [first] }) +
    chunk({ annotations: rest }, 'stop')
  const stream = createMessagesStream(answerOptions())
  const { content } = await askAnthropic(run(stream, [Buffer.from(`${body}data: [DONE]\n\n`)]))
  assert.deepEqual(content, CONTENT)
})

test('results of an earlier search are text, also where there are none', () => {
  const searched = (content: unknown) => {
    const block = { type: 'web_search_tool_result', tool_use_id: 's', content }
    const [, turn] = messagesOf([
      { role: 'user', content: 'hi' },
      { role: 'assistant', content: [block] },
      { role: 'user', content: 'go on' },
    ])
    return turn.content
  }
  const result = { type: 'web_search_result', url: 'https://a.example', title: 'A' }
  assert.equal(searched([result, {}]), 'Web search results:\nA https://a.example')
  for (const empty of [[], [{}], [null]]) {
    assert.equal(searched(empty), 'The web search found nothing.')
  }
  const error = { type: 'web_search_tool_result_error', error_code: 'max_uses_exceeded' }
  assert.equal(searched(error), 'The web search failed: max_uses_exceeded.')
  assert.equal(searched(undefined), 'The web search failed.')
})

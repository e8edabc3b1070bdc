import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { expectWhole } from '../../../server/wire/dialects/chat/expect-body.ts'
import { readChatBody } from '../../../server/wire/dialects/chat/read-body.ts'
import { createChatRelay } from '../../../server/wire/dialects/chat/relay.ts'
import { createBodyTap } from '../../../server/wire/dialects/tap.ts'
import { fixture, streamFixtures } from '../fixtures.ts'
import { chunkings, run } from '../replay.ts'
import { askOpenai } from './ask-openai.ts'

const USAGE = { input_token: 20, cached_input_token: 80, output_token: 7 }

function collected(name: string) {
  const relay = expectWhole(createBodyTap(readChatBody))
  return { document: JSON.parse(run(relay, [fixture(`chat/${name}.sse`)])), report: relay.report() }
}

describe('a document in answer to a streaming request', () => {
  const call = (id: string) => ({
    id,
    type: 'function',
    function: { name: 'lookup', arguments: '{}' },
  })
  const message = { role: 'assistant', content: 'Hi', tool_calls: [call('a'), call('a')] }
  const document = {
    id: 'chatcmpl-1',
    object: 'chat.completion',
    created: 1,
    model: 'm',
    choices: [{ index: 0, message, finish_reason: 'tool_calls' }],
    usage: {
      prompt_tokens: 100,
      completion_tokens: 7,
      prompt_tokens_details: { cached_tokens: 80 },
    },
  }

  test('becomes a stream that the openai package reads', async () => {
    for (const { name, chunks } of chunkings(Buffer.from(JSON.stringify(document, null, 1)))) {
      const relay = createChatRelay({ includeUsage: true })
      const out = run(relay, chunks)
      assert.deepEqual(relay.report().usage, USAGE, name)
      assert.ok(out.endsWith('data: [DONE]\n\n'), name)
      if (name !== 'whole') continue
      const lookup = { name: 'lookup', arguments: '{}' }
      assert.deepEqual(await askOpenai(out), {
        text: 'Hi',
        calls: [
          { id: 'a', ...lookup },
          { id: 'call_chatcmpl1_1', ...lookup },
        ],
        reason: 'tool_calls',
      })
    }
  })

  test('an error document becomes an error event', async () => {
    const relay = createChatRelay({ includeUsage: true })
    const out = run(relay, [Buffer.from('{"error":{"message":"No capacity"}}')])
    await assert.rejects(askOpenai(out), /No capacity/)
    assert.equal(relay.report().error?.message, 'No capacity')
  })

  test('many documents in a row are an error, however large', () => {
    const relay = createChatRelay({ includeUsage: true })
    const out = run(relay, [Buffer.from('{"a":"b"}\n'.repeat(900_000))])
    assert.ok(out.length < 200 && out.includes('upstream provider error'), out.slice(0, 200))
    assert.equal(relay.report().finished, false)
    assert.ok(relay.report().error)
  })

  test('a document that breaks off is an error event', async () => {
    const relay = createChatRelay({ includeUsage: true })
    await assert.rejects(askOpenai(run(relay, [Buffer.from('{"choices":[')])), /upstream provider/)
    assert.equal(relay.report().finished, false)
  })
})

describe('a stream in answer to a request for a document', () => {
  test('is collected: text, calls, reason, usage', () => {
    const { document, report } = collected('clean-tools')
    const called = (id: string, args: string) => ({
      id,
      type: 'function',
      function: { name: 'lookup', arguments: args },
    })
    assert.deepEqual(document.choices, [
      {
        index: 0,
        message: {
          role: 'assistant',
          content: 'Let me look.',
          refusal: null,
          tool_calls: [called('call_a', '{"q":"é\\n"}'), called('call_b', '{"q":2}')],
        },
        finish_reason: 'tool_calls',
      },
    ])
    assert.equal(document.object, 'chat.completion')
    assert.deepEqual(report.usage, USAGE)
  })

  test('reasoning is kept', () => {
    const { message } = collected('clean-reasoning').document.choices[0]
    assert.equal(message.reasoning_content, 'Hm, well')
    assert.equal(message.content, 'Yes.')
  })

  for (const name of ['cut', 'bad-json', 'error-nested', 'error-event']) {
    test(`${name}: what breaks off is an error, not an answer`, () => {
      const { document, report } = collected(name)
      assert.ok(document.error.message)
      assert.ok(report.error)
    })
  }

  const event = (data: object) => `data: ${JSON.stringify(data)}\n\n`
  const stated = { prompt_tokens: 10, completion_tokens: 5 }
  const units = { input_token: 10, output_token: 5 }
  const text = event({ choices: [{ index: 0, delta: { content: 'a' } }] })
  const end = event({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] })
  const done = 'data: [DONE]\n\n'
  for (const [name, stream, expected] of [
    ['behind the end', text + end + done + event({ usage: stated }), units],
    [
      'before an error',
      text + event({ choices: [], usage: stated }) + event({ error: { message: 'x' } }),
      units,
    ],
    ['beside an error', text + event({ error: { message: 'x' }, usage: stated }), units],
    [
      'of tools, beside the usage',
      text + end + event({ choices: [], usage: stated, tool_usage: { web_search: 2 } }) + done,
      { ...units, web_search_call: 2 },
    ],
  ] as const) {
    test(`usage is read from the events: ${name}`, () => {
      for (const { name: chunking, chunks } of chunkings(Buffer.from(stream))) {
        const relay = expectWhole(createBodyTap(readChatBody))
        run(relay, chunks)
        assert.deepEqual(relay.report().usage, expected, chunking)
      }
    })
  }

  test('a whole completion passes byte for byte', () => {
    const body = Buffer.from('{ "choices": [ {"message":{"content":"a"}} ] }')
    assert.equal(run(expectWhole(createBodyTap(readChatBody)), [body]), body.toString())
  })

  for (const name of streamFixtures('chat').filter((one) => one !== 'nothing')) {
    test(`${name}: any chunking is collected to the same document`, () => {
      const expected = collected(name).document
      for (const { name: chunking, chunks } of chunkings(fixture(`chat/${name}.sse`))) {
        const relay = expectWhole(createBodyTap(readChatBody))
        assert.deepEqual(JSON.parse(run(relay, chunks)), expected, chunking)
      }
    })
  }
})

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { InvalidRequest } from '../../../server/wire/dialects/invalid-request.ts'
import { countMessagesTokens } from '../../../server/wire/dialects/messages/count-tokens.ts'
import { editHistory } from '../../../server/wire/dialects/messages/edit-history.ts'
import {
  buildMessagesError,
  toMessagesErrorType,
} from '../../../server/wire/dialects/messages/error.ts'
import { readMessagesBody } from '../../../server/wire/dialects/messages/read-body.ts'
import { validateMessagesRequest } from '../../../server/wire/dialects/messages/validate-request.ts'

const user = (content: unknown) => ({ role: 'user', content })
const assistant = (...content: unknown[]) => ({ role: 'assistant', content })
const text = (value: string) => ({ type: 'text', text: value })

describe('history', () => {
  const signed = { type: 'thinking', thinking: 'Hm', signature: 'c2ln' }
  const unsigned = { type: 'thinking', thinking: 'Hm', signature: '' }
  const use = (id: string) => ({ type: 'tool_use', id, name: 'f', input: {} })
  const result = (id: string) => ({ type: 'tool_result', tool_use_id: id, content: 'r' })

  function edited(...messages: unknown[]): unknown {
    const { set } = editHistory({ messages })
    return set?.messages === undefined ? 'untouched' : JSON.parse(set.messages)
  }

  test('a history in order is not touched', () => {
    const turn = assistant(signed, text('a'), use('toolu_1-A'))
    assert.equal(edited(user('hi'), turn, user([result('toolu_1-A')])), 'untouched')
    assert.deepEqual(editHistory({}), {})
  })

  test('thinking without a signature is dropped and the rest of the turn kept', () => {
    const { signature: _none, ...bare } = unsigned
    for (const block of [unsigned, bare]) {
      assert.deepEqual(edited(user('hi'), assistant(block, text('a'))), [
        user('hi'),
        assistant(text('a')),
      ])
    }
    assert.deepEqual(edited(user('hi'), assistant(unsigned), user('x')), [user('hi'), user('x')])
  })

  test('citations without an index are dropped, and the text and other citations kept', () => {
    const own = { type: 'web_search_result_location', url: 'u', encrypted_index: 'Eo8B' }
    const page = { type: 'page_location', document_index: 0 }
    const foreign = { ...own, encrypted_index: '' }
    const cited = (...citations: object[]) => ({ ...text('a'), citations })
    assert.equal(edited(assistant(cited(own, page), cited())), 'untouched')
    assert.deepEqual(edited(assistant(cited(own, foreign), cited(foreign))), [
      assistant(cited(own), text('a')),
    ])
  })

  test('tool ids with other characters are replaced alike in call and result', () => {
    const messages = edited(
      assistant(use('call|1'), use('call:1'), use('ok')),
      user([result('call:1'), result('call|1'), result('ok')]),
    )
    assert.ok(Array.isArray(messages))
    const [first, second, third] = messages[0].content.map(({ id }: { id: string }) => id)
    assert.match(first, /^call_1_[A-Za-z0-9_-]{8}$/)
    assert.notEqual(first, second)
    assert.equal(third, 'ok')
    const answered = messages[1].content.map((block: { tool_use_id: string }) => block.tool_use_id)
    assert.deepEqual(answered, [second, first, 'ok'])
  })
})

describe('validation', () => {
  const valid = { model: 'm', max_tokens: 1, messages: [user('hi')] }

  function refused(fields: object, needsMaxTokens = true): string | undefined {
    try {
      validateMessagesRequest({ ...valid, ...fields }, { needsMaxTokens })
    } catch (error) {
      if (error instanceof InvalidRequest) return error.param
      throw error
    }
    return undefined
  }

  test('what real clients send is accepted', () => {
    const system = { role: 'system', content: [text('note')] }
    assert.equal(
      refused({ messages: [user('hi'), system], stream: true, safeguards: {} }),
      undefined,
    )
    assert.equal(refused({ max_tokens: undefined }, false), undefined)
  })

  test('each refusal names the field', () => {
    for (const max_tokens of [undefined, 0, 1.5, '1']) {
      assert.equal(refused({ max_tokens }), 'max_tokens')
    }
    assert.equal(refused({ messages: undefined }), 'messages')
    assert.equal(refused({ messages: [] }), 'messages')
    assert.equal(refused({ messages: [user('a'), 7] }), 'messages[1]')
    assert.equal(refused({ messages: [{ role: 'tool', content: 'x' }] }), 'messages[0].role')
    assert.equal(refused({ messages: [user(undefined)] }), 'messages[0].content')
    assert.equal(refused({ messages: [user(['x'])] }), 'messages[0].content[0]')
    assert.equal(refused({ messages: [user([{}])] }), 'messages[0].content[0].type')
    assert.equal(refused({ stream: 'yes' }), 'stream')
  })
})

describe('counting without a tokenizer', () => {
  const count = (request: object) => countMessagesTokens({ ...request })

  test('texts, tools and calls all count', () => {
    const small = count({ messages: [user('hi')] })
    assert.ok(small > 0 && small < 10)
    const long = count({ messages: [user('word '.repeat(1_000))] })
    assert.ok(long > 1_000 && long < 1_500, `${long}`)
    const tool = { name: 'f', description: 'd'.repeat(400), input_schema: { type: 'object' } }
    assert.ok(count({ messages: [user('hi')], tools: [tool] }) > small + 100)
    const call = { type: 'tool_use', id: 'x', name: 'f', input: { text: 'y'.repeat(400) } }
    assert.ok(count({ messages: [assistant(call)] }) > 100)
  })

  test('an image counts flat, not by its bytes', () => {
    const source = { type: 'base64', media_type: 'image/png', data: 'A'.repeat(1_000_000) }
    const tokens = count({ messages: [user([{ type: 'image', source }])] })
    assert.ok(tokens > 1_000 && tokens < 2_000, `${tokens}`)
  })
})

describe('errors', () => {
  test('each kind under the name that callers of this dialect know', () => {
    const typeOf = (type: string, code?: string) =>
      toMessagesErrorType({ type, message: '', ...(code ? { code } : {}) })
    assert.equal(typeOf('server_error'), 'api_error')
    assert.equal(typeOf('server_error', '503'), 'overloaded_error')
    assert.equal(typeOf('overloaded_error'), 'overloaded_error')
    assert.equal(typeOf('rate_limit_error'), 'rate_limit_error')
    assert.equal(typeOf('x', 'rate_limit_exceeded'), 'rate_limit_error')
    assert.equal(typeOf('x', 'insufficient_quota'), 'billing_error')
    assert.equal(typeOf('x', 'context_length_exceeded'), 'invalid_request_error')
  })

  test('the envelope', () => {
    const error = buildMessagesError({ type: 'server_error', message: 'm' })
    assert.deepEqual(error, { type: 'error', error: { type: 'api_error', message: 'm' } })
  })
})

describe('whole messages', () => {
  test('a whole answer is read for usage and generated bytes', () => {
    const content = [text('Hi'), { type: 'tool_use', name: 'f', input: { q: 1 } }]
    const usage = { input_tokens: 12, cache_read_input_tokens: 80, output_tokens: 4 }
    assert.deepEqual(readMessagesBody({ type: 'message', content, usage }), {
      outputBytes: 9,
      usage: { input_token: 12, cached_input_token: 80, output_token: 4 },
    })
  })

  test('an error, or what is no message at all', () => {
    const error = { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } }
    assert.equal(readMessagesBody(error).error?.message, 'Overloaded')
    const strange = [
      { content: [] },
      { type: 'message', content: ['text'] },
      { type: 'message', content: 'text' },
      { object: 'chat.completion', choices: [{ message: { content: 'x' } }] },
    ]
    for (const document of [{}, undefined, 'x', [], ...strange]) {
      assert.ok(readMessagesBody(document).error, JSON.stringify(document))
    }
  })

  test('a count that is no number is not stated', () => {
    const usage = { input_tokens: 3, output_tokens: '4' }
    assert.deepEqual(readMessagesBody({ type: 'message', content: [], usage }).usage, {
      input_token: 3,
    })
  })
})

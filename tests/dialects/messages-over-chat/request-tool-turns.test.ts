import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import {
  assistant,
  calls,
  messagesOf,
  PNG_PART,
  pdf,
  png,
  refusedField,
  result,
  text,
  use,
  user,
} from './translate.ts'

const tool = (id: string, content: string) => ({ role: 'tool', tool_call_id: id, content })
const called = (...ids: string[]) => ({
  role: 'assistant',
  content: null,
  tool_calls: calls(...ids),
})

/** What follows the first user message. */
function after(turns: unknown[], quirks = {}) {
  return messagesOf([user('hi'), ...turns], quirks).slice(1)
}

describe('calls', () => {
  test('a system message between call and result moves behind the result', () => {
    const turns = [
      assistant(use('t1')),
      { role: 'system', content: 'note' },
      user([result('t1', 'r')]),
    ]
    const expected = [called('t1'), tool('t1', 'r'), { role: 'system', content: 'note' }]
    assert.deepEqual(after(turns), expected)
  })

  test('texts around a result follow it in their order', () => {
    const turns = [assistant(use('t1')), user([text('a'), result('t1', 'r'), text('b')])]
    assert.deepEqual(after(turns), [called('t1'), tool('t1', 'r'), user('a\nb')])
  })

  test('parallel results are matched by id in any order', () => {
    const turns = [assistant(use('c1'), use('c2')), user([result('c2', '2'), result('c1', '1')])]
    assert.deepEqual(after(turns), [called('c1', 'c2'), tool('c2', '2'), tool('c1', '1')])
  })

  test('results that come in two user messages are one run', () => {
    const turns = [
      assistant(use('c1'), use('c2')),
      user([result('c1', '1'), text('x')]),
      user([result('c2', '2')]),
    ]
    assert.deepEqual(after(turns), [
      called('c1', 'c2'),
      tool('c1', '1'),
      tool('c2', '2'),
      user('x'),
    ])
  })

  test('texts and calls of a turn are one message with every block', () => {
    const before = after([assistant(text('pre'), use('c1')), user([result('c1', 'r')])])
    assert.deepEqual(before[0], { ...called('c1'), content: 'pre' })
    const around = after([assistant(text('pre'), use('c1'), text('post')), user([result('c1')])])
    assert.deepEqual(around[0], { ...called('c1'), content: 'prepost' })
  })

  test('a call without text has content null, or "" where the upstream wants it', () => {
    const turns = [assistant(use('c1')), user([result('c1', 'r')])]
    assert.equal(after(turns)[0].content, null)
    assert.equal(after(turns, { content_beside_tool_calls: 'empty' })[0].content, '')
  })

  test('input of any kind becomes JSON text', () => {
    const argumentsOf = (input: unknown) => {
      const block = { ...use('c1'), input }
      return after([assistant(block), user([result('c1')])])[0].tool_calls[0].function.arguments
    }
    for (const nothing of [{}, null, undefined]) assert.equal(argumentsOf(nothing), '{}')
    const unparsed = { __unparsedToolInput: { raw: '{"a', len: 3 } }
    assert.deepEqual(JSON.parse(argumentsOf(unparsed)), unparsed)
  })

  test('a call without id or name is refused by its path', () => {
    const messages = [user('hi'), assistant({ type: 'tool_use', name: 'x', input: {} })]
    assert.equal(refusedField({ messages }), 'messages[1].content[0].id')
  })
})

describe('results', () => {
  const answer = (content?: unknown, quirks = {}) =>
    after([assistant(use('c1')), user([result('c1', content)])], quirks).slice(1)

  test('text results are one string', () => {
    assert.deepEqual(answer('plain'), [tool('c1', 'plain')])
    assert.deepEqual(answer([text('a'), text('b')]), [tool('c1', 'a\nb')])
  })

  test('a result without content is an empty tool message', () => {
    for (const nothing of [undefined, null, '', []]) {
      assert.deepEqual(answer(nothing), [tool('c1', '')])
    }
  })

  test('an image of a result follows in a user message', () => {
    const [first, second] = answer([png()])
    assert.equal(first.role, 'tool')
    assert.notEqual(first.content, '')
    assert.deepEqual(second, user([PNG_PART]))
  })

  test('images of results follow the last of the parallel results', () => {
    const turns = [
      assistant(use('c1'), use('c2')),
      user([result('c1', [png()]), result('c2', 'r')]),
    ]
    const [, first, second, third] = after(turns)
    assert.equal(first.tool_call_id, 'c1')
    assert.deepEqual(second, tool('c2', 'r'))
    assert.deepEqual(third, user([PNG_PART]))
  })

  test('a note replaces the image where no user message may follow a tool message', () => {
    const messages = answer([text('a'), png()], { strict_role_order: true })
    assert.equal(messages.length, 1)
    assert.match(messages[0].content, /^a\n\[an image or a file was left out/)
  })

  test('a PDF in a result becomes a file part or a note beside its text', () => {
    const [withFile, file] = answer([text('read'), pdf()], { file_parts: true })
    assert.deepEqual(withFile, tool('c1', 'read'))
    assert.equal(file.content[0].type, 'file')
    const [noted] = answer([text('read'), pdf()])
    assert.match(noted.content, /^read\n\[the document/)
  })

  test('search results and tool references become text', () => {
    const found = {
      type: 'search_result',
      title: 'T',
      source: 'https://a',
      content: [text('x'), text('y')],
    }
    assert.deepEqual(answer([found]), [tool('c1', 'T\nhttps://a\nx\ny')])
    const [reference] = answer([{ type: 'tool_reference', tool_name: 'WebSearch' }])
    assert.match(reference.content, /WebSearch/)
  })

  test('a result without its call becomes user text', () => {
    assert.deepEqual(after([user([result('gone', 'r'), text('b')])]), [
      user('Tool result: r'),
      user('b'),
    ])
  })

  test('a call without its result is answered as interrupted', () => {
    const turns = [assistant(use('c1'), use('c2')), user([result('c1', 'r'), text('go on')])]
    const [, first, second, third] = after(turns)
    assert.deepEqual(first, tool('c1', 'r'))
    assert.equal(second.tool_call_id, 'c2')
    assert.match(second.content, /interrupted/)
    assert.deepEqual(third, user('go on'))
  })

  test('a call at the end of the conversation is answered as interrupted', () => {
    const [, answered] = after([assistant(use('c1'))])
    assert.equal(answered.role, 'tool')
  })
})

test('ids that are too long for a chat are shortened, with their results', () => {
  const id = 'toolu_'.repeat(10)
  const [, calling, answered] = messagesOf([
    user('hi'),
    assistant(use(id)),
    user([result(id, 'r')]),
  ])
  assert.match(calling.tool_calls[0].id, /^[\w-]{40}$/)
  assert.equal(answered.tool_call_id, calling.tool_calls[0].id)
})

describe('strict role order', () => {
  const strict = { strict_role_order: true }

  test('users in a row are one, and text after a tool joins the tool message', () => {
    const turns = [user('b'), assistant(use('c1')), user([result('c1', 'r'), text('more')])]
    assert.deepEqual(messagesOf([user('a'), ...turns], strict), [
      user('a\nb'),
      called('c1'),
      tool('c1', 'r\nmore'),
    ])
  })

  test('assistants in a row are one', () => {
    const messages = [user('a'), assistant(text('x')), assistant(text('y')), user('b')]
    assert.deepEqual(messagesOf(messages, strict), [
      user('a'),
      { role: 'assistant', content: 'x\ny' },
      user('b'),
    ])
  })

  test('no system message stands in the middle', () => {
    const messages = [user('a'), { role: 'system', content: 'note' }]
    const roles = messagesOf(messages, strict).map((message: { role: string }) => message.role)
    assert.deepEqual(roles, ['user'])
  })
})

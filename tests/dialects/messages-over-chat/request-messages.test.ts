import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import {
  assistant,
  messagesOf,
  PNG_PART,
  pdf,
  png,
  refusedField,
  text,
  translate,
  user,
} from './translate.ts'

const system = (content: unknown) => ({ role: 'system', content })
const FOLD = { system_in_the_middle: false }

describe('system', () => {
  test('a system string is the first message', () => {
    const [first] = messagesOf([user('hi')], {}, 'You are X')
    assert.deepEqual(first, { role: 'system', content: 'You are X' })
  })

  test('system blocks become one message, in order, without cache_control', () => {
    const blocks = [{ ...text('A'), cache_control: { type: 'ephemeral' } }, text(''), text('B')]
    const [first] = messagesOf([user('hi')], {}, blocks)
    assert.deepEqual(first, { role: 'system', content: 'A\n\nB' })
  })

  test('empty system blocks make no message', () => {
    assert.deepEqual(messagesOf([user('hi')], {}, [text(''), text('')]), [user('hi')])
  })

  test('media where chat takes texts alone is a note, never lost', () => {
    const note = '[an image or a file was left out: this model cannot take it here]'
    const [first, , answer, middle] = messagesOf(
      [user('hi'), assistant(png(), text('ok')), system([pdf(), text('B')])],
      { file_parts: true },
      [png(), text('A')],
    )
    assert.deepEqual(first, { role: 'system', content: `${note}\n\nA` })
    assert.deepEqual(answer, { role: 'assistant', content: `${note}ok` })
    assert.deepEqual(middle, { role: 'system', content: `${note}\n\nB` })
  })

  test('the billing line of Claude Code is left out', () => {
    const billing = 'x-anthropic-billing-header: cc_version=2.1; cc_entrypoint=sdk-cli;'
    const [first] = messagesOf([user('hi')], {}, [text(billing), text('A')])
    assert.equal(first.content, 'A')
    const [whole] = messagesOf([user('hi')], {}, `${billing}\nA`)
    assert.equal(whole.content, 'A')
  })

  test('a system message within the conversation keeps its place, as blocks or as a string', () => {
    const expected = [user('hi'), system('# Environment')]
    assert.deepEqual(messagesOf([user('hi'), system([text('# Environment')])]), expected)
    assert.deepEqual(messagesOf([user('hi'), system('# Environment')]), expected)
  })

  test('where the upstream takes none there, it joins the user message before it in every turn', () => {
    const first = messagesOf([user('hi'), system('Note')], FOLD)
    assert.deepEqual(first, [user('hi\n<system>\nNote\n</system>')])
    const second = messagesOf([user('hi'), system('Note'), assistant(text('ok'))], FOLD)
    assert.deepEqual(second[0], first[0])
  })
})

describe('texts', () => {
  test('texts of an assistant are joined without a separator', () => {
    const [, message] = messagesOf([user('hi'), assistant(text('pre'), text('post')), user('x')])
    assert.deepEqual(message, { role: 'assistant', content: 'prepost' })
  })

  test('a single text block is a string', () => {
    assert.deepEqual(messagesOf([user([text('a')])]), [user('a')])
    assert.deepEqual(messagesOf([user([text('a'), text('b')])]), [user('a\nb')])
  })

  test('empty texts are dropped, and messages that hold nothing else too', () => {
    const messages = [user('hi'), assistant(text('')), user([text(''), text('b')]), user('')]
    assert.deepEqual(messagesOf(messages), [user('hi'), user('b')])
  })

  test('an unknown block becomes a note and not JSON in the prompt', () => {
    const [message] = messagesOf([user([text('a'), { type: 'hologram', secret: 'x' }])])
    assert.match(message.content, /^a\n\[a content block of type hologram was left out/)
    assert.ok(!message.content.includes('secret'))
  })

  test('an unknown role is refused with the path of the field', () => {
    assert.equal(refusedField({ messages: [{ role: 'robot', content: 'x' }] }), 'messages[0].role')
  })

  test('content of the wrong type is refused by its path', () => {
    const param = refusedField({ messages: [user('a'), user(7)] })
    assert.equal(param, 'messages[1].content')
    assert.equal(refusedField({ messages: [user([null])] }), 'messages[0].content[0]')
    assert.equal(refusedField({ messages: 'hi' }), 'messages')
  })

  test('a request without content is refused', () => {
    assert.equal(refusedField({ messages: [user('')] }), 'messages')
  })

  test('lone surrogates are replaced, in tool arguments too', () => {
    const input = { a: 'x\ud83d' }
    const turn = assistant({ type: 'tool_use', id: 't', name: 'n', input })
    const { text: body } = translate({ messages: [user('\ud83d NUL \u0000'), turn] })
    assert.ok(body.isWellFormed())
    assert.ok(!body.includes('\\ud83d'))
    const parsed = JSON.parse(body)
    assert.equal(parsed.messages[0].content, '\ufffd NUL \u0000')
    assert.equal(parsed.messages[1].tool_calls[0].function.arguments, '{"a":"x\ufffd"}')
  })
})

describe('images and documents', () => {
  test('a base64 image becomes a data URL and keeps its place', () => {
    const [message] = messagesOf([user([text('a'), png(), text('b')])])
    assert.deepEqual(message.content, [text('a'), PNG_PART, text('b')])
  })

  test('an image URL passes unchanged', () => {
    const url = 'https://example.com/a.png?x=1'
    const [message] = messagesOf([user([{ type: 'image', source: { type: 'url', url } }])])
    assert.deepEqual(message.content, [{ type: 'image_url', image_url: { url } }])
  })

  test('an image for a model without eyes is a note', () => {
    const [message] = messagesOf([user([text('a'), png()])], { image_parts: false })
    assert.match(message.content, /^a\n\[an image was left out/)
  })

  test('text documents become text with their title', () => {
    const plain = { type: 'document', title: 'T', source: { type: 'text', data: 'body' } }
    const blocks = { type: 'document', source: { type: 'content', content: [text('x')] } }
    assert.deepEqual(messagesOf([user([plain, blocks])]), [user('T\nbody\nx')])
  })

  test('a PDF becomes a file part where the model reads files', () => {
    const [message] = messagesOf([user([{ ...pdf(), title: 'a.pdf' }])], { file_parts: true })
    const file = { filename: 'a.pdf', file_data: 'data:application/pdf;base64,cGRm' }
    assert.deepEqual(message.content, [{ type: 'file', file }])
  })

  test('a PDF becomes a note where the model reads no files', () => {
    const [message] = messagesOf([user([text('a'), pdf()])])
    assert.match(message.content, /^a\n\[the document document.pdf was left out/)
  })
})

describe('thinking', () => {
  const thinking = { type: 'thinking', thinking: 'Hm', signature: 'sig' }
  const redacted = { type: 'redacted_thinking', data: 'x' }

  test('thinking is dropped and does not become text', () => {
    const [, message] = messagesOf([
      user('hi'),
      assistant(thinking, redacted, text('ok')),
      user('x'),
    ])
    assert.deepEqual(message, { role: 'assistant', content: 'ok' })
  })

  test('thinking goes back in the reasoning field of the upstream', () => {
    const turn = assistant(thinking, text('ok'))
    const quirks = { reasoning_field: 'reasoning_content' } as const
    const [, message] = messagesOf([user('hi'), turn, user('x')], quirks)
    assert.deepEqual(message, { role: 'assistant', content: 'ok', reasoning_content: 'Hm' })
  })

  test('an assistant message of thinking alone is left out', () => {
    assert.deepEqual(messagesOf([user('hi'), assistant(thinking), user('x')]), [
      user('hi'),
      user('x'),
    ])
  })
})

describe('a prefilled answer', () => {
  const messages = [user('hi'), assistant(text('{"a":'))]
  const last = { role: 'assistant', content: '{"a":' }

  test('is kept as the last message, and remembered', () => {
    const { body, context } = translate({ messages })
    assert.deepEqual(body.messages.at(-1), last)
    assert.equal(context.prefill, '{"a":')
  })

  test('is refused where the upstream would answer it', () => {
    assert.equal(refusedField({ messages }, { prefill: 'refuse' }), 'messages')
  })

  test('is marked as the upstream wants it', () => {
    const prefix = translate({ messages }, { prefill: 'prefix' })
    assert.deepEqual(prefix.body.messages.at(-1), { ...last, prefix: true })
    assert.equal(prefix.context.prefill, '')
    const partial = translate({ messages }, { prefill: 'partial' }).body
    assert.deepEqual(partial.messages.at(-1), { ...last, partial: true })
    const flagged = translate({ messages }, { prefill: 'continue_final_message' }).body
    assert.deepEqual(flagged.messages.at(-1), last)
    assert.equal(flagged.continue_final_message, true)
    assert.equal(flagged.add_generation_prompt, false)
  })
})

describe('what another vendor ran or keeps', () => {
  const described = (block: object) => messagesOf([user('hi'), assistant(block)])[1]?.content

  test('results of its tools are text', () => {
    const found = [{ title: 'T', url: 'https://x.example' }]
    const page = { type: 'document', source: { type: 'text', data: 'page text' } }
    const executed = { stdout: 'a.txt', stderr: 'warned', return_code: 0 }
    for (const [block, expected] of [
      [{ type: 'web_search_tool_result', content: found }, 'T https://x.example'],
      [
        { type: 'web_fetch_tool_result', content: { url: 'https://x.example', content: page } },
        'page text',
      ],
      [{ type: 'mcp_tool_result', content: [text('found 42')] }, 'found 42'],
      [{ type: 'bash_code_execution_tool_result', content: executed }, 'a.txt\nwarned'],
    ] as const) {
      assert.ok(described(block).endsWith(expected), JSON.stringify(block))
    }
    assert.deepEqual(
      messagesOf([user('hi'), assistant({ type: 'mcp_tool_use', id: 'm' })]).length,
      1,
    )
  })

  test('a file that is named only by its id is refused', () => {
    const source = { type: 'file', file_id: 'file_1' }
    for (const type of ['image', 'document']) {
      const refused = refusedField({ messages: [user([text('a'), { type, source }])] })
      assert.equal(refused, 'messages[0].content[1].source.file_id')
    }
  })
})

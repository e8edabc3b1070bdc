import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { toMessages } from './translate.ts'

const id = fc.constantFrom('a', 'b', 'c', 'd')
const words = fc.string({ minLength: 1, maxLength: 5 })

const item = fc.oneof(
  fc.record({ role: fc.constantFrom('user', 'assistant', 'developer'), content: words }),
  fc.record({ type: fc.constant('reasoning'), encrypted_content: words }),
  fc.record({ type: fc.constant('function_call'), call_id: id, name: words, arguments: words }),
  fc.record({ type: fc.constant('custom_tool_call'), call_id: id, name: words, input: words }),
  fc.record({ type: fc.constant('function_call_output'), call_id: id, output: words }),
  fc.record({ type: fc.constant('web_search_call'), status: words }),
)

interface Message {
  readonly role?: unknown
  readonly content?: unknown
  readonly tool_calls?: readonly { readonly id: string }[]
  readonly tool_call_id?: string
}

/** What strict vendors check: each call is answered, at once, and nothing else is an answer. */
function checkPairing(messages: readonly Message[]): void {
  let open: string[] = []
  for (const message of messages) {
    if (message.role === 'tool') {
      const position = open.indexOf(message.tool_call_id ?? '')
      assert.notEqual(position, -1, 'a tool message answers an open call')
      open.splice(position, 1)
      continue
    }
    assert.deepEqual(open, [], 'nothing stands between a call and its answers')
    open = (message.tool_calls ?? []).map((call) => call.id)
  }
  assert.deepEqual(open, [], 'every call is answered')
}

test('for any history, each call has its output right behind it', () => {
  const history = fc.array(item, { minLength: 1, maxLength: 12 })
  fc.assert(
    fc.property(history, fc.boolean(), (items, strict) => {
      const calls = items.flatMap((one) => ('call_id' in one && 'name' in one ? [one.call_id] : []))
      // One id for two calls is the caller's own mistake.
      fc.pre(new Set(calls).size === calls.length)
      const input = [{ role: 'user', content: 'hi' }, ...items]
      const messages = toMessages(input, { strict_role_order: strict })
      checkPairing(messages)
      for (const { role, content } of messages) {
        assert.ok(role !== 'user' || (content !== '' && content !== null))
      }
    }),
    { numRuns: 1000 },
  )
})

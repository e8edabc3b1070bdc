import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { refusedField, translate, user } from './translate.ts'

const LOOKUP = { name: 'lookup', description: 'Looks.', input_schema: schema({ q: {} }) }

function schema(properties: object) {
  return { type: 'object', properties }
}

describe('limits and sampling', () => {
  test('max_tokens takes the name that the upstream knows and stays within the model’s limit', () => {
    assert.equal(translate({ max_tokens: 32000 }).body.max_tokens, 32000)
    const renamed = translate(
      { max_tokens: 32000 },
      { max_tokens_field: 'max_completion_tokens', max_tokens_limit: 16384 },
    ).body
    assert.equal(renamed.max_completion_tokens, 16384)
    assert.ok(!('max_tokens' in renamed))
  })

  test('a max_tokens that is missing or not a positive integer is refused', () => {
    for (const value of [undefined, 0, -1, 1.5, '100', null]) {
      assert.equal(refusedField({ max_tokens: value }), 'max_tokens')
    }
  })

  test('more stop sequences than the upstream takes are refused', () => {
    assert.deepEqual(translate({ stop_sequences: ['a', 'b'] }).body.stop, ['a', 'b'])
    assert.ok(!('stop' in translate({ stop_sequences: [] }).body))
    const five = { stop_sequences: ['a', 'b', 'c', 'd', 'e'] }
    assert.equal(refusedField(five), 'stop_sequences')
    assert.equal(translate(five, { stop_limit: 16 }).body.stop.length, 5)
  })

  test('unknown and private fields do not reach the upstream', () => {
    const canary = 'CANARY'
    const { body, text } = translate({
      top_k: 5,
      service_tier: canary,
      speed: canary,
      container: canary,
      context_management: { edits: [canary] },
      safeguards: { cwd: canary },
      diagnostics: canary,
      inference_geo: canary,
      mcp_servers: [canary],
      cache_control: { type: canary },
      metadata: { user_id: canary },
      something_new: canary,
    })
    assert.ok(!text.includes(canary))
    assert.deepEqual(Object.keys(body), ['model', 'messages', 'max_tokens'])
    assert.equal(translate({ top_k: 5 }, { top_k: true }).body.top_k, 5)
  })

  test('a user id is sent as a short pseudonym, and only where the channel wants one', () => {
    const id = JSON.stringify({ device_id: 'd'.repeat(64), session_id: 's'.repeat(36) })
    const request = { metadata: { user_id: id } }
    const { body } = translate(request, { user_field: 'safety_identifier', user_length: 32 })
    assert.match(body.safety_identifier, /^[A-Za-z0-9_-]{32}$/)
    assert.equal(translate(request, { user_field: 'user' }).body.user.length, 43)
  })

  test('temperature and top_p are copied and have no default', () => {
    const { body } = translate({ temperature: 0, top_p: 0.9 })
    assert.equal(body.temperature, 0)
    assert.equal(body.top_p, 0.9)
    assert.ok(!('temperature' in translate({}).body))
  })

  test('a stream asks for usage where the upstream supports it', () => {
    const { body } = translate({}, {}, true)
    assert.equal(body.stream, true)
    assert.deepEqual(body.stream_options, { include_usage: true })
    assert.ok(!('stream_options' in translate({}, { stream_options: false }, true).body))
    assert.ok(!('stream' in translate({ stream: true }).body))
  })
})

describe('reasoning', () => {
  const efforts = { reasoning_efforts: ['low', 'medium', 'high'] }
  const effortOf = (fields: object, quirks = efforts) =>
    translate({ ...fields }, quirks).body.reasoning_effort

  test('a thinking budget becomes an effort where the channel declares efforts', () => {
    const budget = (tokens: number) => ({ thinking: { type: 'enabled', budget_tokens: tokens } })
    assert.equal(effortOf(budget(1_024)), 'low')
    assert.equal(effortOf(budget(10_000)), 'medium')
    assert.equal(effortOf(budget(31_999)), 'high')
    assert.equal(effortOf(budget(31_999), { reasoning_efforts: [] }), undefined)
  })

  test('an effort is lowered to one that the upstream knows', () => {
    const effort = (value: string) => ({
      thinking: { type: 'adaptive' },
      output_config: { effort: value },
    })
    assert.equal(effortOf(effort('high')), 'high')
    assert.equal(effortOf(effort('max')), 'high')
    assert.equal(effortOf(effort('xhigh')), 'high')
    assert.equal(effortOf(effort('minimal')), 'low')
    assert.equal(effortOf(effort('weird')), undefined)
  })

  test('a switch is set where the upstream has one', () => {
    const thinkingOf = (type: string) =>
      translate({ thinking: { type } }, { thinking_switch: true }).body.thinking
    assert.deepEqual(thinkingOf('adaptive'), { type: 'enabled' })
    assert.deepEqual(thinkingOf('disabled'), { type: 'disabled' })
    assert.equal(translate({}, { thinking_switch: true }).body.thinking, undefined)
  })

  test('the response shows thinking only to a caller that requested it', () => {
    assert.equal(translate({ thinking: { type: 'adaptive' } }).context.showsThinking, true)
    assert.equal(translate({ thinking: { type: 'disabled' } }).context.showsThinking, false)
    assert.equal(translate({}).context.showsThinking, false)
  })
})

describe('tools', () => {
  const toolsOf = (...tools: unknown[]) => translate({ tools }).body.tools

  test('a tool is sent as its name, description and schema alone', () => {
    const tool = {
      ...LOOKUP,
      type: 'custom',
      cache_control: { type: 'ephemeral' },
      eager_input_streaming: true,
      defer_loading: true,
      strict: true,
    }
    const expected = {
      type: 'function',
      function: { name: 'lookup', description: 'Looks.', parameters: schema({ q: {} }) },
    }
    assert.deepEqual(toolsOf(tool), [expected])
  })

  test('a tool without parameters gets an empty object schema', () => {
    const parameters = schema({})
    for (const input_schema of [undefined, {}, { type: 'object' }]) {
      const [tool] = toolsOf({ name: 'now', description: '', input_schema })
      assert.deepEqual(tool, { type: 'function', function: { name: 'now', parameters } })
    }
  })

  test('without tools no tool field is sent', () => {
    const { body } = translate({
      tools: [],
      tool_choice: { type: 'auto', disable_parallel_tool_use: true },
    })
    for (const field of ['tools', 'tool_choice', 'parallel_tool_calls']) {
      assert.ok(!(field in body), field)
    }
  })

  test('a name that chat does not accept gets one alias for call, choice and history', () => {
    const name = `mcp__server__${'long_'.repeat(14)}name`
    const { body, context } = translate({
      tools: [{ name, input_schema: {} }],
      tool_choice: { type: 'tool', name },
      messages: [
        user('hi'),
        { role: 'assistant', content: [{ type: 'tool_use', id: 'c', name, input: {} }] },
      ],
    })
    const alias = body.tools[0].function.name
    assert.match(alias, /^[A-Za-z0-9_-]{1,64}$/)
    assert.equal(body.tool_choice.function.name, alias)
    assert.equal(body.messages[1].tool_calls[0].function.name, alias)
    assert.equal(context.toolNames.fromChat(alias), name)
  })

  test('each tool choice has its form in chat', () => {
    const choose = (choice: object) =>
      translate({ tools: [LOOKUP], tool_choice: choice }).body.tool_choice
    assert.equal(choose({ type: 'auto' }), 'auto')
    assert.equal(choose({ type: 'any' }), 'required')
    assert.equal(choose({ type: 'none' }), 'none')
    const named = { type: 'function', function: { name: 'lookup' } }
    assert.deepEqual(choose({ type: 'tool', name: 'lookup' }), named)
    const tools = [LOOKUP]
    const refused = (choice: object) => refusedField({ tools, tool_choice: choice })
    assert.equal(refused({ type: 'tool', name: 'gone' }), 'tool_choice')
    assert.equal(refused({ type: 'perhaps' }), 'tool_choice.type')
  })

  test('disable_parallel_tool_use becomes parallel_tool_calls: false', () => {
    const choice = { type: 'any', disable_parallel_tool_use: true }
    const { body } = translate({ tools: [LOOKUP], tool_choice: choice })
    assert.equal(body.tool_choice, 'required')
    assert.equal(body.parallel_tool_calls, false)
  })

  test('tools that the vendor runs are left out and named, and refused when demanded', () => {
    const types = ['web_search_20250305', 'web_fetch_20250910', 'code_execution_20250825']
    const hosted = [...types, 'mcp_toolset'].map((type) => ({ type, name: 'x' }))
    const names = [...types, 'mcp_toolset'].map((type, position) => `tools[${position}]=${type}`)
    const { body, ignored } = translate({ tools: hosted, tool_choice: { type: 'auto' } })
    assert.ok(!('tools' in body) && !('tool_choice' in body))
    assert.deepEqual(ignored, names)
    assert.equal(translate({ tools: [...hosted, LOOKUP] }).body.tools.length, 1)
    for (const tool_choice of [{ type: 'any' }, { type: 'tool', name: 'x' }]) {
      assert.equal(refusedField({ tools: hosted, tool_choice }), 'tool_choice')
    }
    const other = { tools: [...hosted, LOOKUP], tool_choice: { type: 'tool', name: 'x' } }
    assert.equal(refusedField(other), 'tool_choice')
  })

  test('tools of an unknown type are refused by name', () => {
    assert.equal(refusedField({ tools: [LOOKUP, { type: 'x', name: 'x' }] }), 'tools[1].type')
  })

  test('tools whose schema the vendor’s models know get it', () => {
    const parametersOf = (type: string) => {
      return translate({ tools: [{ type, name: 'x' }] }).body.tools[0].function.parameters
    }
    assert.deepEqual(Object.keys(parametersOf('bash_20250124').properties), ['command', 'restart'])
    const commandsOf = (type: string) => parametersOf(type).properties.command.enum
    assert.ok(commandsOf('text_editor_20250124').includes('undo_edit'))
    assert.ok(!commandsOf('text_editor_20250728').includes('undo_edit'))
    assert.ok(commandsOf('memory_20250818').includes('rename'))
  })

  test('what no chat has is named, unless it is a hint or not set', () => {
    const ignoredOf = (fields: Record<string, unknown>, quirks = {}) => {
      return translate(fields, quirks).ignored
    }
    const lost = { top_k: 4, container: 'c', mcp_servers: [{ name: 'x' }], unknown_field: 3 }
    assert.deepEqual(ignoredOf(lost), ['top_k', 'container', 'mcp_servers', 'unknown_field'])
    assert.deepEqual(ignoredOf({ top_k: 4 }, { top_k: true }), [])
    const thinking = { type: 'enabled', budget_tokens: 2_000 }
    assert.deepEqual(ignoredOf({ thinking }), ['thinking'])
    assert.deepEqual(ignoredOf({ thinking }, { thinking_switch: true }), [])
    assert.deepEqual(ignoredOf({ output_config: { effort: 'low' } }), ['output_config.effort'])
    const hints = { metadata: { user_id: 'u' }, context_management: { edits: [{}] } }
    assert.deepEqual(ignoredOf({ ...hints, speed: 'standard', thinking: { type: 'disabled' } }), [])
    const mark = (ttl: string) => ({ cache_control: { type: 'ephemeral', ttl } })
    const tool = { name: 'f', input_schema: {} }
    for (const marked of [mark('1h'), { tools: [{ ...tool, ...mark('1h') }, tool] }]) {
      assert.deepEqual(ignoredOf(marked), ['cache_control.ttl'])
    }
    assert.deepEqual(ignoredOf(mark('5m')), [])
    assert.equal(refusedField({ temperature: 'hot' }), 'temperature')
  })

  test('tools of the wrong shape are refused by their path', () => {
    assert.equal(refusedField({ tools: {} }), 'tools')
    assert.equal(refusedField({ tools: [LOOKUP, null] }), 'tools[1]')
    assert.equal(refusedField({ tools: [{ input_schema: {} }] }), 'tools[0].name')
  })
})

describe('structured output', () => {
  const format = { type: 'json_schema', schema: schema({ a: {} }) }

  test('under both names, and no property becomes required', () => {
    const json_schema = { name: 'answer', schema: format.schema }
    for (const fields of [{ output_config: { format } }, { output_format: format }]) {
      const { body } = translate(fields)
      assert.deepEqual(body.response_format, { type: 'json_schema', json_schema })
    }
  })

  test('an upstream without schemas gets the schema in the prompt', () => {
    const { body } = translate({ output_format: format }, { response_format: 'json_object' })
    assert.deepEqual(body.response_format, { type: 'json_object' })
    assert.match(body.messages[0].content, /JSON schema:\n{"type":"object"/)
  })
})

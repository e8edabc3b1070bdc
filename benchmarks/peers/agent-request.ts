/** The request of a coding agent: a long system text, many tools, turns with files and results. */

const TOOLS = 40
const CODE = `export function settle(hold: Hold, charge: bigint): Entry[] {
  const rest = hold.amount - charge // "what was not used" returns
  return rest < 0n ? [debt(hold, -rest)] : [pay(hold, charge), giveBack(hold, rest)]
}
`
const PROSE = 'Read the whole file before you change it, and run the tests that touch it. '

/** Returns a chat completion request of about so many kilobytes. */
export function agentRequest(kilobytes: number, stream: boolean): string {
  const request = {
    model: 'sim-chat',
    ...(stream ? { stream: true, stream_options: { include_usage: true } } : {}),
    max_tokens: 8_000,
    tools: Array.from({ length: TOOLS }, (_, index) => describeTool(index)),
    messages: [{ role: 'system', content: PROSE.repeat(250) }] as object[],
  }
  const bytesMax = kilobytes * 1024
  let bytes = JSON.stringify(request).length
  for (let turn = 0; bytes < bytesMax; turn += 1) {
    const messages = takeTurn(turn)
    bytes += JSON.stringify(messages).length
    request.messages.push(...messages)
  }
  return JSON.stringify(request)
}

function describeTool(index: number): object {
  const properties = Object.fromEntries(
    ['path', 'pattern', 'content', 'limit'].map((name) => [
      name,
      { type: 'string', description: PROSE.repeat(3) },
    ]),
  )
  const parameters = { type: 'object', properties, required: ['path'], additionalProperties: false }
  const name = `tool_${index}`
  return { type: 'function', function: { name, description: PROSE.repeat(6), parameters } }
}

function takeTurn(turn: number): object[] {
  const id = `call_${turn}`
  const args = JSON.stringify({ path: `server/file-${turn}.ts`, limit: 200 })
  return [
    { role: 'user', content: `${PROSE.repeat(4)} 请检查第 ${turn} 个文件。` },
    {
      role: 'assistant',
      content: null,
      tool_calls: [{ id, type: 'function', function: { name: 'tool_1', arguments: args } }],
    },
    { role: 'tool', tool_call_id: id, content: CODE.repeat(20) },
    { role: 'assistant', content: PROSE.repeat(6) },
  ]
}

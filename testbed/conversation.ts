/** A coding agent's conversation after an hour: long, and mostly tool results. */
const WORDS = 'the file reads lines of text and writes them back, naïve or not, 行 by 行 '

function prose(bytes: number): string {
  return WORDS.repeat(Math.ceil(bytes / WORDS.length)).slice(0, bytes)
}

function tool(position: number): object {
  const property = (name: string) => [name, { type: 'string', description: prose(120) }]
  const properties = Object.fromEntries(['path', 'pattern', 'content', 'mode'].map(property))
  return {
    name: `Tool${position}`,
    description: prose(900),
    input_schema: { type: 'object', properties, required: ['path'], additionalProperties: false },
  }
}

function turn(position: number): object[] {
  const id = `toolu_${position}`
  const input = { path: `/src/file-${position}.ts`, content: prose(600) }
  return [
    {
      role: 'assistant',
      content: [
        { type: 'thinking', thinking: prose(300), signature: '' },
        { type: 'text', text: prose(150) },
        { type: 'tool_use', id, name: 'Tool1', input },
        { type: 'tool_use', id: `${id}b`, name: 'Tool2', input: { path: '/src' } },
      ],
    },
    {
      role: 'user',
      content: [
        {
          type: 'tool_result',
          tool_use_id: `${id}b`,
          content: [{ type: 'text', text: prose(900) }],
        },
        { type: 'tool_result', tool_use_id: id, content: prose(1_500), is_error: false },
      ],
    },
  ]
}

/** Returns a request body of about `bytes` bytes, in the messages format. */
export function buildConversation(bytes: number): Buffer {
  const messages: object[] = [
    { role: 'user', content: [{ type: 'text', text: prose(2_000) }] },
    { role: 'system', content: '# Environment' },
  ]
  const request = {
    model: 'm',
    max_tokens: 32_000,
    stream: true,
    system: ['x-anthropic-billing-header: cc_version=2;', prose(400), prose(14_000)].map(
      (text) => ({
        type: 'text',
        text,
        cache_control: { type: 'ephemeral' },
      }),
    ),
    tools: Array.from({ length: 21 }, (_, position) => tool(position)),
    thinking: { type: 'adaptive', display: 'omitted' },
    output_config: { effort: 'high' },
    metadata: { user_id: prose(150) },
    messages,
  }
  const base = Buffer.byteLength(JSON.stringify(request))
  const each = Buffer.byteLength(JSON.stringify(turn(0)))
  for (let position = 0; base + position * each < bytes; position += 1) {
    messages.push(...turn(position))
  }
  return Buffer.from(JSON.stringify(request))
}

/** The scenes of a client of messages, whatever it is connected to. */
import { REPORT_SCHEMA, tellWeather, WEATHER_SCHEMA } from './serve-scenes.mjs'

export const question = ({ model, words }) => ({
  model,
  max_tokens: 2000,
  messages: [{ role: 'user', content: words }],
})

const textOf = ({ content }) => content.map((block) => block.text ?? '').join('')

/** Tools were a beta of their own in the first versions that knew them. */
const toolMessages = (client) => client.beta?.tools?.messages ?? client.messages

/** The beta had no streams of tools, and knew no thinking. */
const THINKING = { type: 'enabled', budget_tokens: 1024 }
const INTERLEAVED = {
  options: { thinking: { type: 'enabled', budget_tokens: 4000 } },
  headers: { 'anthropic-beta': 'interleaved-thinking-2025-05-14' },
}

async function callTool(client, scene, stream, { options = {}, headers = {} } = {}) {
  const messages = toolMessages(client)
  const tools = [{ name: 'weather', input_schema: WEATHER_SCHEMA }]
  const { messages: turns, ...request } = { ...question(scene), tools, ...options }
  for (;;) {
    const body = { ...request, messages: turns }
    const answer = stream
      ? await messages.stream(body, { headers }).finalMessage()
      : await messages.create(body, { headers })
    const calls = answer.content.filter(({ type }) => type === 'tool_use')
    if (calls.length === 0) return textOf(answer)
    const results = calls.map(({ id, input }) => {
      return { type: 'tool_result', tool_use_id: id, content: tellWeather(input) }
    })
    turns.push({ role: 'assistant', content: answer.content }, { role: 'user', content: results })
  }
}

/** @param {(scene: object) => object} connect returns a client of the scene's gateway. */
export function messagesScenes(connect) {
  return {
    'whole answer': async (scene) => textOf(await connect(scene).messages.create(question(scene))),
    stream: (scene) => connect(scene).messages.stream(question(scene)).finalText(),
    tool: (scene) => callTool(connect(scene), scene, false),
    async picture(scene) {
      const source = { type: 'base64', media_type: 'image/png', data: scene.picture }
      const content = [
        { type: 'image', source },
        { type: 'text', text: scene.words },
      ]
      const messages = [{ role: 'user', content }]
      return textOf(await connect(scene).messages.create({ ...question(scene), messages }))
    },
    async structured(scene) {
      const tools = [{ name: 'report', input_schema: REPORT_SCHEMA }]
      const messages = toolMessages(connect(scene))
      const { content } = await messages.create({ ...question(scene), tools })
      return content.find(({ type }) => type === 'tool_use').input
    },
    'an error': (scene) => connect(scene).messages.create(question(scene)),
  }
}

export const streamedToolScenes = (connect) => ({
  'tool in a stream': (scene) => callTool(connect(scene), scene, true),
  'two tools at once': (scene) => callTool(connect(scene), scene, true),
  thinking: (scene) => callTool(connect(scene), scene, true, { options: { thinking: THINKING } }),
  'interleaved thinking': (scene) => callTool(connect(scene), scene, true, INTERLEAVED),
})

/** @anthropic-ai/sdk before 1.0: messages, streams, tools as each version has them, thinking. */
import Anthropic from '@anthropic-ai/sdk'
import { REPORT_SCHEMA, serveScenes, tellWeather, WEATHER_SCHEMA } from './serve-scenes.mjs'

const connect = ({ url, key }) => new Anthropic({ apiKey: key, baseURL: url, maxRetries: 0 })

const question = ({ model, words }) => ({
  model,
  max_tokens: 2000,
  messages: [{ role: 'user', content: words }],
})

const textOf = ({ content }) => content.map((block) => block.text ?? '').join('')

/** Tools were a beta of their own in the first versions that knew them. */
const toolMessages = (client) => client.beta?.tools?.messages ?? client.messages

async function callTool(scene, stream, options = {}, headers = {}) {
  const messages = toolMessages(connect(scene))
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

const scenes = {
  'whole answer': async (scene) => textOf(await connect(scene).messages.create(question(scene))),
  stream: (scene) => connect(scene).messages.stream(question(scene)).finalText(),
  tool: (scene) => callTool(scene, false),
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
    const { content } = await toolMessages(connect(scene)).create({ ...question(scene), tools })
    return content.find(({ type }) => type === 'tool_use').input
  },
  'an error': (scene) => connect(scene).messages.create(question(scene)),
}

// The beta has no streams of tools, and knows no thinking.
if (toolMessages(new Anthropic({ apiKey: '-' })).stream) {
  const thinking = { type: 'enabled', budget_tokens: 1024 }
  scenes['tool in a stream'] = (scene) => callTool(scene, true)
  scenes.thinking = (scene) => callTool(scene, true, { thinking })
  scenes['interleaved thinking'] = (scene) => {
    const headers = { 'anthropic-beta': 'interleaved-thinking-2025-05-14' }
    const options = { thinking: { type: 'enabled', budget_tokens: 4000 } }
    return callTool(scene, true, options, headers)
  }
}

serveScenes(scenes)

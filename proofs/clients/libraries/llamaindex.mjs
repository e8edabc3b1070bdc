/** LlamaIndex: its models for chat completions and for messages, as PROVIDER says. */
import { Anthropic, AnthropicSession } from '@llamaindex/anthropic'
import { OpenAI } from '@llamaindex/openai'
import { tool } from 'llamaindex'
import { z } from 'zod'
import { serveScenes, tellWeather } from './serve-scenes.mjs'

const weather = tool({
  name: 'weather',
  description: 'Tells the weather of a city.',
  parameters: z.object({ city: z.string() }),
  execute: tellWeather,
})

function connect({ url, key, model }) {
  if (process.env.PROVIDER === 'anthropic') {
    // Its address belongs to the session.
    const session = new AnthropicSession({ apiKey: key, baseURL: url, maxRetries: 0 })
    return new Anthropic({ model, session })
  }
  return new OpenAI({ model, apiKey: key, baseURL: `${url}/v1`, maxRetries: 0 })
}

const textOf = ({ content }) =>
  typeof content === 'string' ? content : content.map(({ text = '' }) => text).join('')

async function ask(scene, content = scene.words) {
  const { message } = await connect(scene).chat({ messages: [{ role: 'user', content }] })
  return textOf(message)
}

async function askStream(scene) {
  const messages = [{ role: 'user', content: scene.words }]
  let text = ''
  for await (const { delta } of await connect(scene).chat({ messages, stream: true })) text += delta
  return text
}

async function callTool(scene) {
  const messages = [{ role: 'user', content: scene.words }]
  const { newMessages } = await connect(scene).exec({ messages, tools: [weather] })
  const next = { messages: [...messages, ...newMessages], tools: [weather] }
  return textOf((await connect(scene).chat(next)).message)
}

async function callToolInStream(scene) {
  const messages = [{ role: 'user', content: scene.words }]
  const first = await connect(scene).exec({ messages, tools: [weather], stream: true })
  for await (const _ of first.stream);
  const next = { messages: [...messages, ...first.newMessages()], tools: [weather] }
  return textOf((await connect(scene).chat(next)).message)
}

const scenes = {
  'whole answer': (scene) => ask(scene),
  stream: askStream,
  tool: callTool,
  'tool in a stream': callToolInStream,
  picture: (scene) =>
    ask(scene, [
      { type: 'text', text: scene.words },
      { type: 'image_url', image_url: { url: `data:image/png;base64,${scene.picture}` } },
    ]),
  'an error': (scene) => ask(scene),
}

if (process.env.PROVIDER !== 'anthropic') {
  scenes.structured = async (scene) => {
    const responseFormat = z.object({ city: z.string(), sky: z.string() })
    const messages = [{ role: 'user', content: scene.words }]
    const { message } = await connect(scene).chat({ messages, responseFormat })
    return JSON.parse(textOf(message))
  }
}

serveScenes(scenes)

/** LangGraph: an agent graph over LangChain's models, as PROVIDER says. */
import { ChatAnthropic } from '@langchain/anthropic'
import { tool } from '@langchain/core/tools'
import { createReactAgent } from '@langchain/langgraph/prebuilt'
import { ChatOpenAI } from '@langchain/openai'
import { REPORT_SCHEMA, serveScenes, tellWeather, WEATHER_SCHEMA } from './serve-scenes.mjs'

const weather = tool(tellWeather, {
  name: 'weather',
  description: 'Tells the weather of a city.',
  schema: WEATHER_SCHEMA,
})

function connect({ url, key, model }) {
  if (process.env.PROVIDER === 'anthropic') {
    return new ChatAnthropic({ model, apiKey: key, anthropicApiUrl: url, maxRetries: 0 })
  }
  const useResponsesApi = process.env.PROVIDER === 'responses'
  const configuration = { baseURL: `${url}/v1` }
  return new ChatOpenAI({ model, apiKey: key, configuration, useResponsesApi, maxRetries: 0 })
}

const graph = (scene, options = {}) =>
  createReactAgent({ llm: connect(scene), tools: [], ...options })

const question = (content) => ({ messages: [{ role: 'user', content }] })

async function ask(scene, options, content = scene.words) {
  const { messages } = await graph(scene, options).invoke(question(content))
  return messages.at(-1).text
}

/** The text of the last turn: earlier ones call tools. */
async function askStream(scene, options) {
  const stream = await graph(scene, options).stream(question(scene.words), {
    streamMode: 'messages',
  })
  const texts = new Map()
  for await (const [{ id, text }, { langgraph_node: node }] of stream) {
    if (node === 'agent') texts.set(id, (texts.get(id) ?? '') + text)
  }
  return [...texts.values()].at(-1)
}

serveScenes({
  'whole answer': (scene) => ask(scene),
  stream: (scene) => askStream(scene),
  tool: (scene) => ask(scene, { tools: [weather] }),
  'tool in a stream': (scene) => askStream(scene, { tools: [weather] }),
  picture: (scene) =>
    ask(scene, {}, [
      { type: 'text', text: scene.words },
      { type: 'image_url', image_url: { url: `data:image/png;base64,${scene.picture}` } },
    ]),
  async structured(scene) {
    const responseFormat = { title: 'report', ...REPORT_SCHEMA }
    const result = await graph(scene, { responseFormat }).invoke(question(scene.words))
    return result.structuredResponse
  },
  'an error': (scene) => ask(scene),
})

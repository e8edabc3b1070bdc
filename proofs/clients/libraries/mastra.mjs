/** Mastra: an agent whose model is named by address and key. */
import { Agent } from '@mastra/core/agent'
import { createTool } from '@mastra/core/tools'
import { z } from 'zod'
import { serveScenes, tellWeather } from './serve-scenes.mjs'

const weather = createTool({
  id: 'weather',
  description: 'Tells the weather of a city.',
  inputSchema: z.object({ city: z.string() }),
  execute: async (input) => ({ weather: tellWeather(input) }),
})

function connect({ url, key, model }, tools = {}) {
  return new Agent({
    id: 'proof',
    name: 'proof',
    instructions: 'Be brief.',
    model: { id: `gateway/${model}`, url: `${url}/v1`, apiKey: key },
    tools,
    maxRetries: 0,
  })
}

async function readStream(scene, tools) {
  const result = await connect(scene, tools).stream(scene.words)
  let text = ''
  for await (const piece of result.textStream) text += piece
  return text
}

serveScenes({
  'whole answer': async (scene) => (await connect(scene).generate(scene.words)).text,
  stream: (scene) => readStream(scene, {}),
  tool: async (scene) => (await connect(scene, { weather }).generate(scene.words)).text,
  'tool in a stream': (scene) => readStream(scene, { weather }),
  async picture(scene) {
    const content = [
      { type: 'text', text: scene.words },
      { type: 'image', image: `data:image/png;base64,${scene.picture}`, mimeType: 'image/png' },
    ]
    return (await connect(scene).generate([{ role: 'user', content }])).text
  },
  async structured(scene) {
    const schema = z.object({ city: z.string(), sky: z.string() })
    return (await connect(scene).generate(scene.words, { structuredOutput: { schema } })).object
  },
  async 'an error'(scene) {
    const { error, text } = await connect(scene).generate(scene.words)
    throw error ?? new Error(`answered ${text}`)
  },
})

/** @openai/agents: runs of an agent, by chat completions and by responses. */
import { Agent, OpenAIProvider, Runner, tool } from '@openai/agents'
import OpenAI from 'openai'
import { z } from 'zod'
import { serveScenes, tellWeather } from './serve-scenes.mjs'

const weather = tool({
  name: 'weather',
  description: 'Tells the weather of a city.',
  parameters: z.object({ city: z.string() }),
  execute: tellWeather,
})

function connect({ url, key }, useResponses) {
  const openAIClient = new OpenAI({ apiKey: key, baseURL: `${url}/v1`, maxRetries: 0 })
  const modelProvider = new OpenAIProvider({ openAIClient, useResponses })
  return new Runner({ modelProvider, tracingDisabled: true })
}

async function run(scene, { input = scene.words, responses = false, ...options } = {}) {
  const agent = new Agent({ name: 'proof', model: scene.model, ...options })
  return (await connect(scene, responses).run(agent, input)).finalOutput
}

async function runStream(scene, { responses = false, ...options } = {}) {
  const agent = new Agent({ name: 'proof', model: scene.model, ...options })
  const result = await connect(scene, responses).run(agent, scene.words, { stream: true })
  let text = ''
  for await (const piece of result.toTextStream()) text += piece
  await result.completed
  return text
}

serveScenes({
  'whole answer': (scene) => run(scene),
  stream: (scene) => runStream(scene),
  tool: (scene) => run(scene, { tools: [weather] }),
  'tool in a stream': (scene) => runStream(scene, { tools: [weather] }),
  picture(scene) {
    const content = [
      { type: 'input_text', text: scene.words },
      { type: 'input_image', image: `data:image/png;base64,${scene.picture}` },
    ]
    return run(scene, { input: [{ role: 'user', content }] })
  },
  structured(scene) {
    return run(scene, { outputType: z.object({ city: z.string(), sky: z.string() }) })
  },
  responses: (scene) => run(scene, { responses: true, tools: [weather] }),
  'responses in a stream': (scene) => runStream(scene, { responses: true, tools: [weather] }),
  'an error': (scene) => run(scene),
})

/** @ai-sdk/minimax: chat by messages. Its videos have a form of MiniMax's own. */
import { createMiniMax } from '@ai-sdk/minimax'
import { generateText, jsonSchema, Output, stepCountIs, streamText, tool } from 'ai'
import { REPORT_SCHEMA, serveScenes, tellWeather, WEATHER_SCHEMA } from './serve-scenes.mjs'

const weather = tool({
  description: 'Tells the weather of a city.',
  inputSchema: jsonSchema(WEATHER_SCHEMA),
  execute: tellWeather,
})

function call({ url, key, model, words }, options = {}) {
  const minimax = createMiniMax({ apiKey: key, baseURL: `${url}/v1` })
  return { model: minimax(model), prompt: words, maxRetries: 0, ...options }
}

const withTool = { tools: { weather }, stopWhen: stepCountIs(3) }

async function readStream(scene, options) {
  let failure
  const onError = ({ error }) => {
    failure = error
  }
  let text = ''
  for await (const piece of streamText(call(scene, { ...options, onError })).textStream)
    text += piece
  if (failure) throw failure
  return text
}

serveScenes({
  'whole answer': async (scene) => (await generateText(call(scene))).text,
  stream: (scene) => readStream(scene),
  tool: async (scene) => (await generateText(call(scene, withTool))).text,
  'tool in a stream': (scene) => readStream(scene, withTool),
  async thinking(scene) {
    const providerOptions = { minimax: { thinking: { type: 'adaptive' } } }
    return (await generateText(call(scene, { ...withTool, providerOptions }))).text
  },
  async picture(scene) {
    const content = [
      { type: 'text', text: scene.words },
      { type: 'image', image: `data:image/png;base64,${scene.picture}` },
    ]
    const options = { prompt: undefined, messages: [{ role: 'user', content }] }
    return (await generateText(call(scene, options))).text
  },
  async structured(scene) {
    const output = Output.object({ schema: jsonSchema(REPORT_SCHEMA) })
    return (await generateText(call(scene, { output }))).output
  },
  'an error': (scene) => generateText(call(scene)),
})

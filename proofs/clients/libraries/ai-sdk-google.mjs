/** @ai-sdk/google: Google's own paths: tools with their signatures, pictures, JSON. */
import { createGoogleGenerativeAI } from '@ai-sdk/google'
import { generateText, jsonSchema, Output, stepCountIs, streamText, tool } from 'ai'
import { REPORT_SCHEMA, serveScenes, tellWeather, WEATHER_SCHEMA } from './serve-scenes.mjs'

const weather = tool({
  description: 'Tells the weather of a city.',
  inputSchema: jsonSchema(WEATHER_SCHEMA),
  execute: tellWeather,
})

function call({ url, key, model, words }, options = {}) {
  const google = createGoogleGenerativeAI({ apiKey: key, baseURL: `${url}/v1beta` })
  return { model: google(model), prompt: words, maxRetries: 0, ...options }
}

const withTool = { tools: { weather }, stopWhen: stepCountIs(4) }
const thinking = {
  ...withTool,
  providerOptions: { google: { thinkingConfig: { includeThoughts: true } } },
}

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

const read = async (scene, options) => (await generateText(call(scene, options))).text

serveScenes({
  'whole answer': (scene) => read(scene),
  stream: (scene) => readStream(scene),
  tool: (scene) => read(scene, withTool),
  'tool in a stream': (scene) => readStream(scene, withTool),
  'two tools at once': (scene) => readStream(scene, withTool),
  thinking: (scene) => readStream(scene, thinking),
  'interleaved thinking': (scene) => read(scene, thinking),
  picture(scene) {
    const content = [
      { type: 'text', text: scene.words },
      { type: 'image', image: `data:image/png;base64,${scene.picture}` },
    ]
    return read(scene, { prompt: undefined, messages: [{ role: 'user', content }] })
  },
  async structured(scene) {
    const output = Output.object({ schema: jsonSchema(REPORT_SCHEMA) })
    return (await generateText(call(scene, { output }))).output
  },
  'an error': (scene) => read(scene),
})

/** promptfoo: evaluations of one prompt by its providers for chat, responses and messages. */
import promptfoo from 'promptfoo'
import { REPORT_SCHEMA, serveScenes } from './serve-scenes.mjs'

function providerOf({ url, key, model }, config) {
  if (process.env.PROVIDER === 'anthropic:messages') {
    return {
      id: `anthropic:messages:${model}`,
      config: { apiBaseUrl: url, apiKey: key, ...config },
    }
  }
  const apiBaseUrl = `${url}/v1`
  return { id: `${process.env.PROVIDER}:${model}`, config: { apiBaseUrl, apiKey: key, ...config } }
}

async function evaluate(scene, { assert = [], ...config } = {}) {
  // A prompt that begins with a bracket would be read as a list of messages.
  const prompts = [{ raw: `Please ${scene.words}`, label: 'words' }]
  const suite = { prompts, providers: [providerOf(scene, config)], tests: [{ assert }] }
  const options = { cache: false, showProgressBar: false, maxConcurrency: 1 }
  const evaluation = await promptfoo.evaluate({ ...suite, writeLatestResults: false }, options)
  const { results } = evaluation.toEvaluateSummary
    ? await evaluation.toEvaluateSummary()
    : evaluation
  const [result] = results
  if (result.error) throw new Error(result.error)
  return result.response.output
}

const scenes = {
  'whole answer': (scene) => evaluate(scene, { assert: [{ type: 'contains', value: '世界' }] }),
  'an error': (scene) => evaluate(scene),
}

if (process.env.PROVIDER === 'openai:chat') {
  scenes.structured = (scene) => {
    const json_schema = { name: 'report', strict: true, schema: REPORT_SCHEMA }
    return evaluate(scene, { response_format: { type: 'json_schema', json_schema } })
  }
}

serveScenes(scenes)

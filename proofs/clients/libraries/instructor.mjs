/** Instructor: the same schema by tools, functions and JSON. */
import createInstructor from '@instructor-ai/instructor'
import OpenAI from 'openai'
import { z } from 'zod'
import { serveScenes } from './serve-scenes.mjs'

const schema = z.object({ city: z.string(), sky: z.string() })

function extract({ url, key, model, words }, mode, options = {}) {
  const openai = new OpenAI({ apiKey: key, baseURL: `${url}/v1`, maxRetries: 0 })
  return createInstructor({ client: openai, mode }).chat.completions.create({
    model,
    messages: [{ role: 'user', content: words }],
    response_model: { schema, name: 'report' },
    max_retries: 0,
    ...options,
  })
}

async function extractStream(scene) {
  let last
  for await (const partial of await extract(scene, 'TOOLS', { stream: true })) last = partial
  return last
}

serveScenes({
  structured: (scene) => extract(scene, 'TOOLS'),
  'structured in a stream': extractStream,
  'structured by functions': (scene) => extract(scene, 'FUNCTIONS'),
  'structured as JSON': (scene) => extract(scene, 'JSON'),
  'an error': (scene) => extract(scene, 'TOOLS'),
})

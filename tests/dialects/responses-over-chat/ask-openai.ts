/** What the unmodified openai package makes of a Responses stream: the judge of "accepted". */
import OpenAI from 'openai'

/** Rejects as the package does. Nothing leaves the process: the body is the answer. */
export async function askOpenai(body: string) {
  const headers = { 'content-type': 'text/event-stream' }
  const fetch = async () => new Response(body, { headers })
  const client = new OpenAI({ apiKey: 'k', baseURL: 'http://127.0.0.1', maxRetries: 0, fetch })
  return client.responses.stream({ model: 'm', input: 'hi' }).finalResponse()
}

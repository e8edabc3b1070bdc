/** @anthropic-ai/sdk before 1.0: messages, streams, tools as each version has them, thinking. */
import Anthropic from '@anthropic-ai/sdk'
import { messagesScenes, streamedToolScenes } from './anthropic-scenes.mjs'
import { serveScenes } from './serve-scenes.mjs'

const connect = ({ url, key }) => new Anthropic({ apiKey: key, baseURL: url, maxRetries: 0 })

// The first versions that knew tools had no streams of them, and knew no thinking.
const client = new Anthropic({ apiKey: '-' })
const hasStreams = !client.beta?.tools || client.beta.tools.messages.stream !== undefined

serveScenes({ ...messagesScenes(connect), ...(hasStreams ? streamedToolScenes(connect) : {}) })

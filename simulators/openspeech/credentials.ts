// Checks credentials in either of two styles, then the grant for the resource.
import type { Exchange, Reply } from '../kernel/exchange.ts'

export interface SpeechOptions {
  keys: string[]
  /** Legacy console: app id and access key. */
  apps: { appId: string; accessKey: string }[]
  resources: string[]
  /** An assumption: the vendor does not document its limit. */
  maxCharacters: number
}

export const SPEECH_DEFAULTS: SpeechOptions = {
  keys: ['sim-speech-key'],
  apps: [{ appId: 'sim-speech-app', accessKey: 'sim-speech-access-key' }],
  resources: [
    'seed-tts-1.0',
    'volc.service_type.10029',
    'seed-tts-1.0-concurr',
    'volc.service_type.10048',
    'seed-tts-2.0',
    'seed-icl-1.0',
    'seed-icl-1.0-concurr',
    'seed-icl-2.0',
    'volc.service_type.10053',
    'volc.lark.minutes',
    'volc.bigasr.auc',
    'volc.seedasr.auc',
    'volc.bigasr.auc_turbo',
  ],
  maxCharacters: 10_000,
}

const NO_GRANT = 'load grant: requested grant not found in SaaS storage'

export function speechCredentials(options: SpeechOptions) {
  const keys = new Set(options.keys)
  const apps = new Map(options.apps.map(({ appId, accessKey }) => [appId, accessKey]))
  return (exchange: Exchange): Reply | undefined => {
    const { headers } = exchange.request
    const refuse = (status: number, message: string) =>
      exchange.vendor.failure(exchange, { status, message })
    const key = headers['x-api-key']
    const app = headers['x-api-app-id'] ?? headers['x-api-app-key']
    const access = headers['x-api-access-key']
    if (key !== undefined && (app !== undefined || access !== undefined)) {
      return refuse(401, NO_GRANT)
    }
    if (key !== undefined) {
      if (!keys.has(String(key))) return refuse(401, 'Invalid X-Api-Key')
    } else if (app === undefined || access === undefined || apps.get(String(app)) !== access) {
      return refuse(401, NO_GRANT)
    }
    const resource = String(headers['x-api-resource-id'] ?? '')
    if (options.resources.includes(resource)) return undefined
    return refuse(403, `[resource_id=${resource}] requested resource not granted`)
  }
}

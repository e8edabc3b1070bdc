/** A gateway with simulated vendors of videos and erasures, in a fraction of their time. */
import assert from 'node:assert/strict'
import { type Simulators, startSimulators } from '../../simulators/index.ts'
import {
  startTestGateway,
  type Tenant,
  type TestAnswer,
  type TestGateway,
} from '../support/in-process.ts'
import { until } from '../support/until.ts'
import { QUICK, VIDEO_PATH } from './stage.ts'

export const ERASE_PATH = '/v1/videos/erase-subtitle'

const route = (channel: string, upstream_model: string) => [{ channel, upstream_model }]

function catalog(url: string): object {
  return {
    channels: [
      {
        id: 'v',
        upstream: 'ark',
        settings: { base_url: `${url}/ark/api/v3`, api_key: 'sim-ark-key' },
      },
      {
        id: 'e',
        upstream: 'mediakit',
        settings: { base_url: `${url}/mediakit`, api_key: 'sim-mediakit-key' },
      },
    ],
    models: [
      {
        id: 'a-video',
        type: 'video',
        free: true,
        routes: route('v', 'doubao-seedance-1-0-pro-250528'),
      },
      {
        id: 'erase-paid',
        type: 'video',
        prices: [
          { unit: 'second', amount: '0.02', when: { resolution: '1080p' } },
          { unit: 'second', amount: '0.01' },
        ],
        routes: route('e', 'erase-video-subtitle-pro'),
      },
      {
        id: 'erase-free',
        type: 'video',
        free: true,
        routes: route('e', 'erase-video-subtitle'),
      },
      {
        id: 'erase-promotion',
        type: 'video',
        prices: [{ unit: 'second', per: 60, amount: '0' }],
        routes: route('e', 'erase-video-subtitle'),
      },
    ],
  }
}

export interface EraseStage {
  readonly gateway: TestGateway
  readonly vendors: Simulators
  /** A video of this account that has succeeded; five seconds by default. */
  video(tenant: Tenant, more?: object): Promise<{ id: string; upstream_id: string }>
  /** One whose erasure fails at the vendor, by words in its URL. */
  scripted(tenant: Tenant, words: string): Promise<string>
  create(tenant: Tenant, body: object): Promise<TestAnswer>
  /** The record of a task once it has ended. */
  ended(tenant: Tenant, id: string): Promise<TestAnswer['json']>
  stop(): Promise<void>
}

export async function startEraseStage(
  environment: Readonly<Record<string, string>> = {},
): Promise<EraseStage> {
  const vendors = await startSimulators({ port: 0, timeScale: 0.01 })
  const gateway = await startTestGateway({
    ...QUICK,
    ALLOW_PRIVATE_TARGETS: 'true',
    ...environment,
  })
  await gateway.apply(catalog(vendors.url))

  function untilEnded(tenant: Tenant, path: string): Promise<TestAnswer['json']> {
    const readTask = async () => {
      const { json } = await gateway.get(path, tenant.key)
      return ['succeeded', 'failed'].includes(json.status) ? json : undefined
    }
    return until(`the end of ${path}`, readTask)
  }

  async function video(tenant: Tenant, more: object = {}) {
    const content = [{ type: 'text', text: 'a river' }]
    const body = { model: 'a-video', content, ...more }
    const created = await gateway.post(VIDEO_PATH, tenant.key, body)
    assert.equal(created.status, 200, created.text)
    const done = await untilEnded(tenant, `${VIDEO_PATH}/${created.json.id}`)
    assert.equal(done.status, 'succeeded')
    return created.json
  }

  return {
    gateway,
    vendors,
    video,
    async scripted(tenant, words) {
      const { id } = await video(tenant)
      await gateway.sql`
        update task set result = jsonb_set(result, '{video_url}',
          to_jsonb((result->>'video_url') || ${`&x=${words}`}::text)) where id = ${id}`
      return id
    },
    create: (tenant, body) => gateway.post(ERASE_PATH, tenant.key, body),
    ended: (tenant, id) => untilEnded(tenant, `${ERASE_PATH}/${id}`),
    async stop() {
      await gateway.stop()
      await vendors.stop()
    },
  }
}

/** A gateway in this process with tiny vendors of images behind it, and short waits. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  startTestGateway,
  type Tenant,
  type TestAnswer,
  type TestGateway,
} from '../../support/in-process.ts'
import { until } from '../../support/until.ts'
import { QUICK } from '../stage.ts'
import { type ImageVendor, startImageVendor } from './image-vendor.ts'

export const ASYNC_PATH = '/v1/images/async'

const PIECE = [{ unit: 'image', amount: '0.5' }]
const TOKENS = [
  { unit: 'input_token', per: 1_000, amount: '1' },
  { unit: 'output_token', per: 1_000, amount: '2' },
]

function imageCatalog(first: string, second: string): object {
  const channel = (id: string, base_url: string) => ({
    id,
    upstream: 'openai-compatible',
    settings: { base_url, api_key: 'vendor-key' },
  })
  const routes = (upstream_model: string) => [{ channel: 'first', upstream_model }]
  return {
    channels: [channel('first', first), channel('second', second)],
    models: [
      { id: 'piece', type: 'image', prices: PIECE, routes: routes('p-1') },
      { id: 'tokens', type: 'image', prices: TOKENS, routes: routes('t-1') },
      {
        id: 'by-task',
        type: 'image',
        prices: [{ unit: 'task', amount: '0.7' }],
        routes: routes('b-1'),
      },
      { id: 'free', type: 'image', free: true, routes: routes('f-1') },
      {
        id: 'two-routes',
        type: 'image',
        prices: PIECE,
        routes: [
          { channel: 'first', upstream_model: 'r-1', priority: 0 },
          { channel: 'second', upstream_model: 'r-2', priority: 1 },
        ],
      },
    ],
  }
}

export interface ImageStage {
  readonly gateway: TestGateway
  readonly vendor: ImageVendor
  readonly second: ImageVendor
  create(tenant: Tenant, body?: object, headers?: object): Promise<TestAnswer>
  readTask(tenant: Tenant, id: string): Promise<TestAnswer['json']>
  until(tenant: Tenant, id: string, ...states: readonly string[]): Promise<TestAnswer['json']>
  timeline(tenant: Tenant, id: string): Promise<readonly string[]>
  stop(): Promise<void>
}

export async function startImageStage(
  environment: Readonly<Record<string, string>> = {},
): Promise<ImageStage> {
  const [vendor, second] = [await startImageVendor(), await startImageVendor()]
  const dataDir = mkdtempSync(join(tmpdir(), 'images-'))
  const gateway = await startTestGateway({
    ...QUICK,
    ALLOW_PRIVATE_TARGETS: 'true',
    DATA_DIR: dataDir,
    ...environment,
  })
  await gateway.apply(imageCatalog(vendor.url, second.url))
  const readTask = async (tenant: Tenant, id: string) =>
    (await gateway.get(`${ASYNC_PATH}/${id}`, tenant.key)).json
  return {
    gateway,
    vendor,
    second,
    readTask,
    create: (tenant, body = {}, headers = {}) =>
      gateway.post(ASYNC_PATH, tenant.key, { model: 'piece', prompt: 'a river', ...body }, headers),
    until(tenant, id, ...states) {
      const found = async () => {
        const json = await readTask(tenant, id)
        return states.includes(json?.status) ? json : undefined
      }
      return until(`${id} as ${states.join(' or ')}`, found)
    },
    async timeline(tenant, id) {
      const { json } = await gateway.get(`/v1/tasks/${id}/timeline`, tenant.key)
      return json.events.map((one: { event: string }) => one.event)
    },
    async stop() {
      await gateway.stop()
      await Promise.all([vendor.stop(), second.stop()])
      rmSync(dataDir, { recursive: true, force: true })
    },
  }
}

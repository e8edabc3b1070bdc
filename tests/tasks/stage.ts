/** A gateway in this process with the tiny video vendor behind it, and short waits. */
import type { Sql } from 'postgres'
import { findFreePort } from '../support/free-port.ts'
import {
  startTestGateway,
  type Tenant,
  type TestAnswer,
  type TestGateway,
} from '../support/in-process.ts'
import { until } from '../support/until.ts'
import { startVideoVendor, type VideoVendor } from './video-vendor.ts'

export const VIDEO_PATH = '/v1/videos/generations'
export const CONTENTS_PATH = '/v1/contents/generations/tasks'
export const TEXT = [{ type: 'text', text: 'a river' }]
export const BODY = { model: 'test-video', content: TEXT }
/** 46 a million for 108,900 tokens. */
export const CHARGE = '5.0094'

const ROUTE = { channel: 'video', upstream_model: 'doubao-seedance-2-0-260128' }
const PRICE = { unit: 'output_token', per: 1_000_000, amount: '46' }
const SEARCH = { unit: 'web_search_call', per: 1_000, amount: '4' }

/**
 * Waits short enough for tests. What is under way must not be taken for lost while the machine is
 * busy: only lost ones take the longer of them. Vendors of tests close the connection of an answer
 * that is lost, so that none waits for the time-out of a submission.
 */
export const QUICK = {
  TASK_POLL_INTERVAL_MIN_MS: '40',
  TASK_POLL_INTERVAL_MAX_MS: '80',
  TASK_LEASE_MS: '15000',
  TASK_UNKNOWN_MS: '10000',
}
/**
 * Makes due what a process that was killed had claimed, as the end of its lease would. A short
 * lease instead would also be lost by a process that merely waits for a busy machine.
 */
export async function endLeases(sql: Sql): Promise<void> {
  await sql`update task set due_at = now() where due_at > now()`
}

function videoCatalog(vendorUrl: string): object {
  const route = (upstream_model: string) => [{ channel: 'video', upstream_model }]
  return {
    channels: [
      { id: 'video', upstream: 'ark', settings: { base_url: vendorUrl, api_key: 'vendor-key' } },
    ],
    models: [
      { id: 'test-video', type: 'video', prices: [PRICE, SEARCH], routes: [ROUTE] },
      {
        id: 'test-video-1',
        type: 'video',
        prices: [
          { unit: 'output_token', per: 1_000_000, amount: '8', when: { service_tier: 'flex' } },
          { unit: 'output_token', per: 1_000_000, amount: '16', when: { audio: true } },
          { unit: 'output_token', per: 1_000_000, amount: '8' },
        ],
        routes: route('doubao-seedance-1-5-pro-251215'),
      },
      {
        id: 'test-video-seconds',
        type: 'video',
        prices: [{ unit: 'second', per: 1, amount: '0.5' }],
        routes: route('doubao-seedance-1-0-pro-250528'),
      },
      {
        id: 'test-video-free',
        type: 'video',
        free: true,
        routes: route('doubao-seedance-2-5-260628'),
      },
    ],
  }
}

/** The public URL under which vendors reach the gateway, which enables vendor callbacks. */
export async function reachable(): Promise<Readonly<Record<string, string>>> {
  const port = await findFreePort()
  return { PORT: String(port), PUBLIC_URL: `http://127.0.0.1:${port}` }
}

export interface TaskStage {
  readonly gateway: TestGateway
  readonly vendor: VideoVendor
  create(tenant: Tenant, body?: object, path?: string, headers?: object): Promise<TestAnswer>
  /** Waits until a task is in one of the states. */
  until(tenant: Tenant, id: string, ...states: readonly string[]): Promise<TestAnswer['json']>
  timeline(tenant: Tenant, id: string): Promise<readonly string[]>
  stop(): Promise<void>
}

export async function startTaskStage(
  environment: Readonly<Record<string, string>> = {},
  parts: Parameters<typeof startTestGateway>[2] = {},
): Promise<TaskStage> {
  const vendor = await startVideoVendor()
  const variables = { ...QUICK, ALLOW_PRIVATE_TARGETS: 'true', ...environment }
  const gateway = await startTestGateway(variables, undefined, parts)
  await gateway.apply(videoCatalog(vendor.url))
  return {
    gateway,
    vendor,
    create: (tenant, body = BODY, path = VIDEO_PATH, headers = {}) =>
      gateway.post(path, tenant.key, body, headers),
    async until(tenant, id, ...states) {
      return until(`task ${id} as ${states.join(' or ')}`, async () => {
        const { json } = await gateway.get(`${VIDEO_PATH}/${id}`, tenant.key)
        return states.includes(json?.status) && json
      })
    },
    async timeline(tenant, id) {
      const { json } = await gateway.get(`/v1/tasks/${id}/timeline`, tenant.key)
      return json.events.map((one: { event: string }) => one.event)
    },
    async stop() {
      await gateway.stop()
      await vendor.stop()
    },
  }
}

/** Requests of the console's pages, with common and rare filters. */
import type { AdminKey } from '../../server/api/admin/contract.ts'

export interface Question {
  readonly name: string
  readonly key: AdminKey
  readonly params?: Readonly<Record<string, string>>
  readonly query?: Readonly<Record<string, string>>
  /** The number of pages to turn before the one that is measured. */
  readonly turns?: number
}

const DAY_MS = 86_400_000
const ago = (days: number) => new Date(Date.now() - days * DAY_MS).toISOString()

const USAGE = 'GET /accounts/:account_id/usage'
const SUMMARY = 'GET /accounts/:account_id/usage/summary'
const TASKS = 'GET /accounts/:account_id/tasks'
const LEDGER = 'GET /accounts/:account_id/ledger'
const DELIVERIES = 'GET /accounts/:account_id/webhooks/deliveries'

export const QUESTIONS: readonly Question[] = [
  { name: 'overview', key: 'GET /accounts/:account_id/overview' },
  { name: 'balance', key: 'GET /accounts/:account_id/balance' },
  { name: 'keys', key: 'GET /accounts/:account_id/keys' },
  { name: 'usage', key: USAGE },
  { name: 'usage, 500 rows', key: USAGE, query: { limit: '500' } },
  { name: 'usage, page 100', key: USAGE, query: { limit: '500' }, turns: 99 },
  { name: 'usage, old days', key: USAGE, query: { from: ago(60), to: ago(59) } },
  { name: 'usage, one model of 30', key: USAGE, query: { model: 'model-7' } },
  { name: 'usage, a rare model', key: USAGE, query: { model: 'model-rare' } },
  { name: 'usage, no such model', key: USAGE, query: { model: 'none' } },
  { name: 'usage, a rare key', key: USAGE, query: { key: 'key_rare' } },
  { name: 'usage, failed', key: USAGE, query: { status: 'failed' } },
  { name: 'usage, lost', key: USAGE, query: { status: 'lost' } },
  { name: 'usage, rare large charges', key: USAGE, query: { charged_at_least: '5' } },
  { name: 'usage, no such charge', key: USAGE, query: { charged_at_least: '500' } },
  { name: 'usage, one endpoint', key: USAGE, query: { endpoint: 'videos' } },
  { name: 'usage, by request', key: USAGE, query: { request_id: 'req_seed0' } },
  { name: 'usage, by task', key: USAGE, query: { task_id: 'task_seed0' } },
  {
    name: 'one call',
    key: 'GET /accounts/:account_id/usage/:request_id',
    params: { request_id: 'req_seed0' },
  },
  { name: 'figures, 24 hours', key: SUMMARY },
  { name: 'figures, 30 days', key: SUMMARY, query: { from: ago(30), step: 'day' } },
  { name: 'figures, 30 days by hour', key: SUMMARY, query: { from: ago(30) } },
  { name: 'figures, 90 days', key: SUMMARY, query: { from: ago(90), step: 'day' } },
  {
    name: 'figures, 90 days of a model',
    key: SUMMARY,
    query: { from: ago(90), step: 'day', model: 'model-7' },
  },
  { name: 'tasks', key: TASKS },
  { name: 'tasks, page 50', key: TASKS, query: { limit: '500' }, turns: 49 },
  { name: 'tasks, videos', key: TASKS, query: { kind: 'video' } },
  { name: 'tasks, failed', key: TASKS, query: { status: 'failed' } },
  { name: 'tasks, under way', key: TASKS, query: { status: 'processing' } },
  { name: 'tasks, no such model', key: TASKS, query: { model: 'none' } },
  {
    name: 'one task',
    key: 'GET /accounts/:account_id/tasks/:task_id',
    params: { task_id: 'task_seed0' },
  },
  {
    name: 'timeline',
    key: 'GET /accounts/:account_id/tasks/:task_id/timeline',
    params: { task_id: 'task_seed0' },
  },
  { name: 'gallery', key: 'GET /accounts/:account_id/gallery' },
  { name: 'assets', key: 'GET /accounts/:account_id/assets' },
  { name: 'files', key: 'GET /accounts/:account_id/files' },
  { name: 'models', key: 'GET /accounts/:account_id/models' },
  { name: 'ledger', key: LEDGER },
  { name: 'ledger, page 50', key: LEDGER, query: { limit: '500' }, turns: 49 },
  { name: 'credits', key: 'GET /accounts/:account_id/credits' },
  { name: 'deliveries', key: DELIVERIES },
  { name: 'deliveries, dropped', key: DELIVERIES, query: { status: 'dropped' } },
  { name: 'deliveries, pending', key: DELIVERIES, query: { status: 'pending' } },
]

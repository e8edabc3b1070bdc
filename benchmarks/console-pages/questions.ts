/** Requests of the console's pages, with common and rare filters. */
import type { AdminKey } from '../../server/api/admin/contract.ts'

export interface Question {
  readonly name: string
  readonly key: AdminKey
  readonly params?: Readonly<Record<string, string>>
  readonly query?: Readonly<Record<string, string>>
  /** The number of pages to turn before the one that is measured. */
  readonly turns?: number
  /** Asked by an operator. */
  readonly isOperator?: boolean
}

const DAY_MS = 86_400_000
const ago = (days: number) => new Date(Date.now() - days * DAY_MS).toISOString()

const USAGE = 'GET /accounts/:account_id/usage' as const
const SUMMARY = 'GET /accounts/:account_id/usage/summary' as const
const TASKS = 'GET /accounts/:account_id/tasks' as const
const LEDGER = 'GET /accounts/:account_id/ledger' as const
const DELIVERIES = 'GET /accounts/:account_id/webhooks/deliveries' as const

const CALLS = 'GET /operator/calls' as const

const OPERATOR_QUESTIONS: readonly Question[] = [
  {
    name: 'operator: overview, 90 days',
    key: 'GET /operator/overview',
    query: { from: ago(90), step: 'day' },
  },
  { name: 'operator: accounts', key: 'GET /operator/accounts' },
  { name: 'operator: accounts, search', key: 'GET /operator/accounts', query: { search: 'usy' } },
  { name: 'operator: calls', key: CALLS, query: { limit: '500' } },
  { name: 'operator: calls, page 50', key: CALLS, query: { limit: '500' }, turns: 49 },
  { name: 'operator: calls, a rare model', key: CALLS, query: { model: 'model-rare' } },
  { name: 'operator: calls, no such model', key: CALLS, query: { model: 'none' } },
  { name: 'operator: calls, lost', key: CALLS, query: { status: 'lost' } },
  { name: 'operator: calls, cancelled', key: CALLS, query: { status: 'cancelled' } },
  { name: 'operator: calls to review', key: CALLS, query: { review: 'true' } },
  { name: 'operator: calls at a loss', key: CALLS, query: { loss: 'true' } },
  { name: 'operator: calls, one endpoint', key: CALLS, query: { endpoint: 'videos' } },
  { name: 'operator: tasks', key: 'GET /operator/tasks', query: { limit: '500' } },
  {
    name: 'operator: tasks, no such channel',
    key: 'GET /operator/tasks',
    query: { channel: 'none' },
  },
  { name: 'operator: deliveries', key: 'GET /operator/deliveries', query: { limit: '500' } },
  {
    name: 'operator: deliveries, a host',
    key: 'GET /operator/deliveries',
    query: { host: 'none:443' },
  },
  { name: 'operator: proof', key: 'GET /operator/proof' },
  { name: 'operator: uncharged costs', key: 'GET /operator/proof/uncharged-costs' },
  { name: 'operator: channels', key: 'GET /operator/channels' },
  { name: 'operator: prices', key: 'GET /operator/prices' },
  { name: 'operator: users', key: 'GET /operator/users' },
  { name: 'operator: audit log', key: 'GET /operator/audit-log' },
  { name: 'operator: system', key: 'GET /operator/system' },
]

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
  { name: 'usage, one tag of 7', key: USAGE, query: { tag: 'team-4' } },
  { name: 'usage, a rare tag', key: USAGE, query: { tag: 'rare' } },
  { name: 'usage, no such tag', key: USAGE, query: { tag: 'none' } },
  { name: 'usage, an end user', key: USAGE, query: { end_user: 'user-42' } },
  { name: 'usage, a rare end user', key: USAGE, query: { end_user: 'rare' } },
  { name: 'usage, no such end user', key: USAGE, query: { end_user: 'none' } },
  { name: 'usage, the oldest', key: USAGE, query: { order: 'oldest' } },
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
  {
    name: 'figures, 30 days by end user',
    key: SUMMARY,
    query: { from: ago(30), step: 'day', by: 'end_user' },
  },
  ...['tag', 'key', 'model'].map(
    (by): Question => ({
      name: `figures, 90 days by ${by}`,
      key: SUMMARY,
      query: { from: ago(90), step: 'day', by },
    }),
  ),
  {
    name: 'figures, 90 days of a tag',
    key: SUMMARY,
    query: { from: ago(90), step: 'day', tag: 'team-4' },
  },
  {
    name: 'figures, 90 days of an end user',
    key: SUMMARY,
    query: { from: ago(90), step: 'day', end_user: 'user-42' },
  },
  {
    name: 'statement, 90 days',
    key: 'GET /accounts/:account_id/statement',
    query: { from: ago(90).slice(0, 10), to: ago(0).slice(0, 10) },
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
  ...OPERATOR_QUESTIONS.map((question) => ({ ...question, isOperator: true })),
]

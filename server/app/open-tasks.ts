/** Wires the task engine to the parts that it does not know. */
import type { Assets } from '../assets/assets.ts'
import { addToLibrary } from '../assets/library/library.ts'
import { createChannelVersions } from '../catalog/load/channel-versions.ts'
import type { Config } from '../config/config.ts'
import type { OpenedDatabase } from '../database/open.ts'
import { SUBMISSIONS } from '../endpoints/index.ts'
import type { SecretBox } from '../lib/secrets/secrets.ts'
import type { Guard } from '../outbound/guard.ts'
import { measureUrl } from '../outbound/measure.ts'
import type { Services } from '../pipeline/services.ts'
import { createTasks } from '../tasks/tasks.ts'
import { UPSTREAMS } from '../upstreams/index.ts'
import { enqueueDelivery } from '../webhooks/enqueue.ts'
import { listCallbackAttempts, readCallback } from '../webhooks/store.ts'
import type { OpenedCallbacks } from './open-callbacks.ts'

/** The task engine with what it needs of the parts it does not know. */
export function openTasks(parts: {
  readonly config: Config
  readonly sql: OpenedDatabase['sql']
  readonly secrets: SecretBox
  readonly services: Services
  readonly guard: Guard
  readonly assets: Assets
  readonly callbackAddresses: OpenedCallbacks
}) {
  const { config, sql, secrets, services, guard, assets, callbackAddresses } = parts
  const upstreams = Object.fromEntries(UPSTREAMS)
  return createTasks({
    sql,
    services,
    channels: createChannelVersions({ sql, upstreams, secrets }),
    submissions: SUBMISSIONS,
    ports: {
      enqueueDelivery,
      judgeUrl: guard.checkUrl,
      measureUrl: async (url) => (await assets.measureOwn(url)) ?? measureUrl(guard, url),
      vendorCallbackUrl: callbackAddresses.urlOf,
      callbackState: (taskId) => readCallback(sql, taskId),
      callbackAttempts: (taskId) => listCallbackAttempts(sql, taskId),
      keepContent: assets.keeper.keep,
      discard: assets.keeper.discard,
      async onSucceeded(transaction, task, kept) {
        await addToLibrary(transaction, task)
        for (const one of kept) await assets.keeper.adopt(transaction, task.id, one)
      },
    },
    times: config.tasks,
    slots: { callsPerChannel: config.taskCallsPerChannel },
  })
}

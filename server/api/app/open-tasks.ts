/** Wires the task engine to parts that it does not import. */
import { availableParallelism } from 'node:os'
import type { OpenedDatabase } from '../../base/database/open.ts'
import type { SecretBox } from '../../base/lib/secrets/secrets.ts'
import type { Guard } from '../../base/outbound/guard.ts'
import { measureUrl } from '../../base/outbound/measure.ts'
import { createChannelVersions } from '../../money/catalog/load/channel-versions.ts'
import { UPSTREAMS } from '../../wire/upstreams/index.ts'
import type { Assets } from '../../work/assets/assets.ts'
import { addToLibrary, withLastingLinks } from '../../work/assets/library/library.ts'
import { deletePublished } from '../../work/assets/uploads/file-store.ts'
import type { Services } from '../../work/pipeline/services.ts'
import { createTasks } from '../../work/tasks/tasks.ts'
import { enqueueDelivery } from '../../work/webhooks/enqueue.ts'
import { listTaskDeliveryAttempts, readTaskDelivery } from '../../work/webhooks/store.ts'
import type { Config } from '../config/config.ts'
import { SUBMISSIONS } from '../endpoints/index.ts'
import type { OpenedCallbacks } from './open-callbacks.ts'

/** Opens the task engine. */
export function openTasks(parts: {
  readonly config: Config
  readonly sql: OpenedDatabase['sql']
  readonly secrets: SecretBox
  readonly services: Services
  readonly guard: Guard
  readonly assets: Assets
  readonly storage: { readonly keepsFiles: () => boolean }
  readonly callbackAddresses: OpenedCallbacks
}) {
  const { config, sql, secrets, services, guard, assets, storage, callbackAddresses } = parts
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
      deliveryState: (task) => readTaskDelivery(sql, task),
      deliveryAttempts: (task) => listTaskDeliveryAttempts(sql, task),
      convertSound: assets.convertSound,
      unpublish: deletePublished,
      keepsFiles: storage.keepsFiles,
      keepContent: assets.keeper.keep,
      discardContent: assets.keeper.discard,
      async addToLibrary(transaction, task, contents) {
        await addToLibrary(transaction, task)
        for (const content of contents) await assets.keeper.adopt(transaction, task, content)
        return withLastingLinks(transaction, task, config.publicUrl)
      },
    },
    times: config.tasks,
    slots: {
      callsPerChannel: config.taskCallsPerChannel,
      // One for each processor core, which the worker processes share.
      conversions: Math.max(1, Math.floor(availableParallelism() / config.workers)),
    },
  })
}

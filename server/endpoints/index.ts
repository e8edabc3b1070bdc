/** The public API's table of contents: one line an endpoint, nothing is found by magic. */

import type { TaskSubmission } from '../tasks/submission.ts'
import { getBalance } from './balance.ts'
import { chatCompletions } from './chat-completions.ts'
import { countTokens } from './count-tokens.ts'
import { docs } from './docs.ts'
import { embeddings } from './embeddings.ts'
import type { Endpoint } from './endpoint.ts'
import { createErase, getErase } from './erase-subtitle.ts'
import {
  deleteUpload,
  getFile,
  getFileContent,
  getPublicFile,
  listUploads,
  uploadFile,
} from './files.ts'
import { healthz, readyz } from './health.ts'
import { createImageTask, getImageTask } from './image-async.ts'
import { imageGenerations } from './image-generations.ts'
import {
  deleteAsset,
  deleteGalleryImage,
  getAsset,
  getGalleryImage,
  listAssets,
  listGallery,
} from './library.ts'
import { getMedia } from './media.ts'
import { messages } from './messages.ts'
import { createMinutes, getMinutes } from './minutes.ts'
import { getModel, listModels } from './models.ts'
import { openapi } from './openapi.ts'
import { responses, upgradeResponses } from './responses.ts'
import { search } from './search.ts'
import { speech } from './speech.ts'
import { getStorage } from './storage.ts'
import { cancelResponse, deleteResponse, getResponse, listInputItems } from './stored-responses.ts'
import { synthesis } from './synthesis.ts'
import { taskTimeline } from './task-timeline.ts'
import { transcriptions } from './transcriptions.ts'
import { translations } from './translations.ts'
import { getUsage, listUsage } from './usage.ts'
import { cancelVideo, createVideo, getVideo, listVideos } from './video.ts'
import {
  createContentsTask,
  deleteContentsTask,
  getContentsTask,
  listContentsTasks,
} from './video-contents.ts'
import { getDelivery, listDeliveries, redeliver } from './webhook-deliveries.ts'
import { getWebhookSecret, rotateWebhookSecret } from './webhook-secret.ts'
import { testWebhook } from './webhook-test.ts'

export const ENDPOINTS: readonly Endpoint[] = [
  chatCompletions,
  messages,
  countTokens,
  responses,
  upgradeResponses,
  getResponse,
  listInputItems,
  cancelResponse,
  deleteResponse,
  embeddings,
  speech,
  synthesis,
  transcriptions,
  translations,
  search,
  imageGenerations,
  createImageTask,
  getImageTask,
  createMinutes,
  getMinutes,
  createVideo,
  listVideos,
  getVideo,
  cancelVideo,
  createErase,
  getErase,
  createContentsTask,
  listContentsTasks,
  getContentsTask,
  deleteContentsTask,
  taskTimeline,
  uploadFile,
  listUploads,
  getFile,
  getFileContent,
  deleteUpload,
  getPublicFile,
  getStorage,
  listGallery,
  getGalleryImage,
  deleteGalleryImage,
  listAssets,
  getAsset,
  deleteAsset,
  getMedia,
  listModels,
  getModel,
  getBalance,
  listUsage,
  getUsage,
  getWebhookSecret,
  rotateWebhookSecret,
  testWebhook,
  listDeliveries,
  getDelivery,
  redeliver,
  healthz,
  readyz,
  openapi,
  docs,
]

/** Those that exist where this gateway stands. */
export function listEndpoints(site: string): Endpoint[] {
  return ENDPOINTS.filter(({ sites }) => sites?.includes(site) ?? true)
}

/** How requests become tasks, of every endpoint that makes any. */
export const SUBMISSIONS: readonly TaskSubmission[] = ENDPOINTS.flatMap((endpoint) => {
  if (endpoint.kind === 'task') return [endpoint.submission]
  return endpoint.kind === 'metered' && endpoint.background ? [endpoint.background] : []
})

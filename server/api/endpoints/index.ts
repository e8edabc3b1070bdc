/** The table of contents of the public API: one line per endpoint. */

import type { TaskSubmission } from '../../work/tasks/submission.ts'
import { getBalance } from './account/balance.ts'
import { getStorage } from './account/storage.ts'
import { taskTimeline } from './account/task-timeline.ts'
import { getUsage, listUsage } from './account/usage.ts'
import { speech } from './audio/speech.ts'
import { synthesis } from './audio/synthesis.ts'
import { transcriptions } from './audio/transcriptions.ts'
import { translations } from './audio/translations.ts'
import type { Endpoint } from './endpoint.ts'
import {
  deleteUpload,
  getFile,
  getFileContent,
  getPublicFile,
  listUploads,
  uploadFile,
} from './files/files.ts'
import {
  deleteAsset,
  deleteGalleryImage,
  getAsset,
  getGalleryImage,
  listAssets,
  listGallery,
} from './files/library.ts'
import { getMedia } from './files/media.ts'
import { createImageTask, getImageTask } from './images/image-async.ts'
import { imageEdits, imageVariations } from './images/image-edits.ts'
import { imageGenerations } from './images/image-generations.ts'
import { createMinutes, getMinutes } from './minutes/minutes.ts'
import { docs, docsGuide, docsPage, llmsTxt } from './reference/docs.ts'
import { openapi } from './reference/openapi-endpoint.ts'
import { search } from './search.ts'
import { healthz, readyz } from './service/health.ts'
import { chatCompletions } from './text/chat-completions.ts'
import { compactResponses } from './text/compaction.ts'
import { completions } from './text/completions.ts'
import { contentsEndpoints, modelEndpoints } from './text/contents/endpoints.ts'
import { countTokens } from './text/count-tokens.ts'
import { embeddings } from './text/embeddings.ts'
import { inputTokens } from './text/input-tokens.ts'
import { messagesEndpoint } from './text/messages.ts'
import { moderations } from './text/moderations.ts'
import { rerank } from './text/rerank.ts'
import { responses } from './text/responses.ts'
import { responsesSocket } from './text/socket/responses-socket.ts'
import {
  cancelResponse,
  deleteResponse,
  getResponse,
  listInputItems,
} from './text/stored-responses.ts'
import { createErase, getErase } from './video/erase-subtitle.ts'
import { cancelVideo, createVideo, getVideo, listVideos } from './video/video.ts'
import {
  createContentsTask,
  deleteContentsTask,
  getContentsTask,
  listContentsTasks,
} from './video/video-contents.ts'
import {
  getDelivery,
  listDeliveries,
  redeliver,
  redeliverDropped,
} from './webhooks/webhook-deliveries.ts'
import { getWebhookSecret, rotateWebhookSecret } from './webhooks/webhook-secret.ts'
import { testWebhook } from './webhooks/webhook-test.ts'

export const ENDPOINTS: readonly Endpoint[] = [
  chatCompletions,
  completions,
  messagesEndpoint,
  countTokens,
  responses,
  responsesSocket,
  compactResponses,
  inputTokens,
  getResponse,
  listInputItems,
  cancelResponse,
  deleteResponse,
  ...contentsEndpoints,
  embeddings,
  moderations,
  speech,
  synthesis,
  transcriptions,
  translations,
  rerank,
  search,
  imageGenerations,
  imageEdits,
  imageVariations,
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
  ...modelEndpoints,
  getBalance,
  listUsage,
  getUsage,
  getWebhookSecret,
  rotateWebhookSecret,
  testWebhook,
  listDeliveries,
  getDelivery,
  redeliver,
  redeliverDropped,
  healthz,
  readyz,
  openapi,
  docs,
  docsPage,
  docsGuide,
  llmsTxt,
]

/** Returns the endpoints that exist on a site. */
export function listEndpoints(site: string): Endpoint[] {
  return ENDPOINTS.filter(({ sites }) => sites?.includes(site) ?? true)
}

/** The submissions of all endpoints that create tasks. */
export const SUBMISSIONS: readonly TaskSubmission[] = ENDPOINTS.flatMap((endpoint) => {
  if (endpoint.kind === 'task') return [endpoint.submission]
  return endpoint.kind === 'metered' && endpoint.background ? [endpoint.background] : []
})

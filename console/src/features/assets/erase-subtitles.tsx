/** Button that creates a copy without subtitles: an ordinary paid call, with its price. */
import { Text } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { ConfirmButton } from '../../components/form/confirm-dialog.tsx'
import { PriceLines } from '../../components/prices/price-list.tsx'
import { notifyDone } from '../../components/state/notify.ts'
import { callAdmin } from '../../lib/api.ts'
import { ApiError, foreignAnswer, unreachable } from '../../lib/api-error.ts'
import { useMessages } from '../../lib/i18n.tsx'
import { useAccount } from '../../lib/session.tsx'
import { useAdmin } from '../../lib/use-admin.ts'
import { messages } from './messages.ts'

const ERASE_PATH = '/v1/videos/erase-subtitle'
/** The endpoint's default model. */
const MODEL = 'subtitle-erase'

export function EraseSubtitles({ taskId }: { readonly taskId: string }) {
  const t = useMessages(messages)
  const account = useAccount()
  const client = useQueryClient()
  return (
    <ConfirmButton
      size="compact-sm"
      title={t('eraseTitle')}
      act={t('eraseAct')}
      onConfirm={async () => {
        await startErase(account.id, taskId)
        await client.invalidateQueries({ queryKey: ['GET /accounts/:account_id/assets'] })
        notifyDone(t('eraseStarted'))
      }}
    >
      {t('eraseText')}
      <ErasePrice />
    </ConfirmButton>
  )
}

function ErasePrice() {
  const t = useMessages(messages)
  const account = useAccount()
  const { data: model } = useAdmin('GET /accounts/:account_id/models/:model_id', {
    params: { account_id: account.id, model_id: MODEL },
  })
  if (!model) return null
  return (
    <>
      <Text size="xs" c="dimmed" mt="sm">
        {t('price')}
      </Text>
      {model.free ? t('free') : <PriceLines currency={model.currency} prices={model.prices} />}
    </>
  )
}

/** Starts the task. Throws ApiError with the API's own message. */
async function startErase(accountId: string, videoTaskId: string): Promise<void> {
  const { key } = await callAdmin('POST /accounts/:account_id/playground-key', {
    params: { account_id: accountId },
  })
  const response = await fetch(ERASE_PATH, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ video_task_id: videoTaskId }),
    credentials: 'omit',
  }).catch(() => {
    throw unreachable()
  })
  if (response.ok) return
  const answer: unknown = await response.json().catch(() => undefined)
  const isRecord = typeof answer === 'object' && answer !== null
  const message =
    isRecord && 'error' in answer ? String(answer.error) : foreignAnswer(response.status)
  const requestId = response.headers.get('x-request-id') ?? undefined
  throw new ApiError(response.status, 'refused', message, { requestId })
}

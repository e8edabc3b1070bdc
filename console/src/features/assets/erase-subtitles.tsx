/** One click to a copy without subtitles: a real call, paid like any other, priced before it. */
import { Button, Text } from '@mantine/core'
import { useState } from 'react'
import { ConfirmDialog } from '../../components/confirm-dialog.tsx'
import { notifyDone } from '../../components/notify.ts'
import { PriceList } from '../../components/price-list.tsx'
import { ApiError, callAdmin } from '../../lib/api.ts'
import { useMessages } from '../../lib/i18n.tsx'
import { useAccount } from '../../lib/session.tsx'
import { useGoTo } from '../../lib/url-state.ts'
import { useAdmin } from '../../lib/use-admin.ts'
import { messages } from './messages.ts'

const ERASE_PATH = '/v1/videos/erase-subtitle'
const MODELS_MAX = 200

export function EraseSubtitles({ taskId }: { readonly taskId: string }) {
  const t = useMessages(messages)
  const account = useAccount()
  const goTo = useGoTo()
  const [isAsking, setAsking] = useState(false)
  return (
    <>
      <Button variant="default" onClick={() => setAsking(true)}>
        {t('eraseAct')}
      </Button>
      <ConfirmDialog
        isOpen={isAsking}
        title={t('eraseTitle')}
        act={t('eraseAct')}
        onConfirm={async () => {
          const id = await startErase(account.id, taskId)
          notifyDone(t('eraseStarted'))
          goTo('/tasks', { id })
        }}
        onClose={() => setAsking(false)}
      >
        {t('eraseText')}
        <ErasePrice />
      </ConfirmDialog>
    </>
  )
}

function ErasePrice() {
  const t = useMessages(messages)
  const account = useAccount()
  const { data } = useAdmin('GET /accounts/:account_id/models', {
    params: { account_id: account.id },
    query: { type: 'video', limit: MODELS_MAX },
  })
  const model = data?.data.find(({ endpoints }) => endpoints.includes(ERASE_PATH))
  if (!model) return null
  return (
    <>
      <Text size="xs" c="dimmed" mt="sm">
        {t('price')}
      </Text>
      <PriceList currency={model.currency} prices={model.prices} />
    </>
  )
}

/** Returns the id of the new task. Throws ApiError with the API's own words. */
async function startErase(accountId: string, videoTaskId: string): Promise<string> {
  const { key } = await callAdmin('POST /accounts/:account_id/playground-key', {
    params: { account_id: accountId },
  })
  const response = await fetch(ERASE_PATH, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ video_task_id: videoTaskId }),
    credentials: 'omit',
  })
  const answer: unknown = await response.json().catch(() => undefined)
  const isRecord = typeof answer === 'object' && answer !== null
  if (response.ok && isRecord && 'id' in answer) return String(answer.id)
  const message = isRecord && 'error' in answer ? String(answer.error) : response.statusText
  const requestId = response.headers.get('x-request-id') ?? undefined
  throw new ApiError(response.status, 'refused', message, requestId)
}

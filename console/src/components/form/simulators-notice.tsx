/** Says that the demo's channels and models are still there, and removes them. */
import { Box } from '@mantine/core'
import { useMessages } from '../../lib/i18n.tsx'
import { useAdmin, useAdminChange } from '../../lib/use-admin.ts'
import { Notice } from '../state/notice.tsx'
import { ConfirmButton } from './confirm-dialog.tsx'
import { messages } from './simulators-messages.ts'

/** Nothing during a demo, and nothing once they are removed. */
export function SimulatorsNotice() {
  const t = useMessages(messages)
  const { data } = useAdmin('GET /operator/simulators', {})
  const remove = useAdminChange('DELETE /operator/simulators')
  if (!data || data.demo || data.channels.length === 0) return null
  const counts = { channels: data.channels.length, models: data.models.length }
  return (
    <Box mb="md">
      <Notice
        tone="warning"
        title={t('title', counts)}
        action={
          <ConfirmButton
            size="compact-sm"
            title={t('ask')}
            act={t('act')}
            isDangerous
            onConfirm={() => remove.mutateAsync({})}
          >
            {t('askText', { names: data.models.join(', ') })} {t('askMore')}
          </ConfirmButton>
        }
      >
        {t('text')}
      </Notice>
    </Box>
  )
}

/** Says that the demo's channels and models are still there, and removes them. */
import { Box, Button } from '@mantine/core'
import { useState } from 'react'
import { useMessages } from '../../lib/i18n.tsx'
import { useAdmin, useAdminChange } from '../../lib/use-admin.ts'
import { Notice } from '../state/notice.tsx'
import { ConfirmDialog } from './confirm-dialog.tsx'
import { messages } from './simulators-messages.ts'

/** Nothing during a demo, and nothing once they are removed. */
export function SimulatorsNotice() {
  const t = useMessages(messages)
  const [isOpen, setOpen] = useState(false)
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
          <Button size="compact-sm" variant="default" onClick={() => setOpen(true)}>
            {t('act')}
          </Button>
        }
      >
        {t('text')}
      </Notice>
      <ConfirmDialog
        isOpen={isOpen}
        title={t('ask')}
        act={t('act')}
        isDangerous
        onConfirm={() => remove.mutateAsync({})}
        onClose={() => setOpen(false)}
      >
        {t('askText', { names: data.models.join(', ') })} {t('askMore')}
      </ConfirmDialog>
    </Box>
  )
}

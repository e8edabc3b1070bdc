/** Signs in with a passkey; hidden if the browser has no passkeys. */
import { Button, Stack } from '@mantine/core'
import { Refusal } from '../../components/form/refusal.tsx'
import { useSubmit } from '../../components/form/use-submit.ts'
import { Icon } from '../../components/icon.tsx'
import { useMessages } from '../../lib/i18n.tsx'
import { hasPasskeys } from './api.ts'
import { messages } from './messages.ts'

export function PasskeyButton({ onUse }: { readonly onUse: () => Promise<void> }) {
  const t = useMessages(messages)
  const { isBusy, failure, submit } = useSubmit(onUse)
  if (!hasPasskeys()) return null
  return (
    <Stack gap="sm" my="sm">
      <Button
        variant="default"
        leftSection={<Icon name="key" size={16} />}
        loading={isBusy}
        onClick={() => submit(undefined)}
      >
        {t('withPasskey')}
      </Button>
      <Refusal failure={failure} />
    </Stack>
  )
}

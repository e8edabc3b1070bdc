/** The signed-in user's menu: language, color scheme, API reference, sign-out. */
import { ActionIcon, Menu, Text, useMantineColorScheme } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { Icon, type IconName } from '../../components/icon.tsx'
import { notifyFailed } from '../../components/state/notify.ts'
import { ApiError, callAdmin } from '../../lib/api.ts'
import { useLanguage, useMessages } from '../../lib/i18n.tsx'
import { LANGUAGES, type Language } from '../../lib/language.ts'
import { useSession } from '../../lib/session.tsx'
import { messages } from '../messages.ts'

const SCHEMES = [
  ['light', 'sun'],
  ['dark', 'moon'],
  ['auto', 'gear'],
] as const satisfies readonly (readonly [string, IconName])[]

export function UserMenu() {
  const t = useMessages(messages)
  const { session } = useSession()
  const { colorScheme, setColorScheme } = useMantineColorScheme()
  const { language, choose } = useLanguage()
  const signOut = useSignOut()
  return (
    <Menu position="bottom-end" width={220} withinPortal>
      <Menu.Target>
        <ActionIcon variant="default" size={32} radius="xl" aria-label={t('userMenu')}>
          <Icon name="user" size={16} />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <Text size="sm" fw={500} px="sm" pt={6} truncate>
          {session.user.name || session.user.email}
        </Text>
        <Text size="xs" c="dimmed" px="sm" pb={6} truncate>
          {session.user.email}
        </Text>
        <Menu.Divider />
        <Menu.Label>{t('theme')}</Menu.Label>
        {SCHEMES.map(([scheme, icon]) => (
          <Menu.Item
            key={scheme}
            leftSection={<Icon name={icon} size={16} />}
            rightSection={colorScheme === scheme ? <Icon name="check" size={14} /> : null}
            onClick={() => setColorScheme(scheme)}
          >
            {t(scheme)}
          </Menu.Item>
        ))}
        <Menu.Label>{t('language')}</Menu.Label>
        {(Object.keys(LANGUAGES) as Language[]).map((one) => (
          <Menu.Item
            key={one}
            lang={one}
            leftSection={<Icon name="globe" size={16} />}
            rightSection={language === one ? <Icon name="check" size={14} /> : null}
            onClick={() => {
              choose(one)
              // Only a convenience for other browsers: a failure is ignored.
              callAdmin('PATCH /profile', { body: { language: one } }).catch(() => undefined)
            }}
          >
            {LANGUAGES[one]}
          </Menu.Item>
        ))}
        <Menu.Divider />
        <Menu.Item component="a" href="/docs" leftSection={<Icon name="book" size={16} />}>
          {t('reference')}
        </Menu.Item>
        <Menu.Item leftSection={<Icon name="exit" size={16} />} onClick={signOut}>
          {t('signOut')}
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  )
}

function useSignOut(): () => void {
  const client = useQueryClient()
  const navigate = useNavigate()
  return () => {
    const leave = async () => {
      const ended = await callAdmin('POST /session/end', {}).catch((error: unknown) => {
        if (error instanceof ApiError && error.status === 401) return undefined
        throw error
      })
      // Clears the user's data for the next one to sign in.
      client.clear()
      // The session at the provider ends there, which leads back here.
      if (ended?.location) window.location.assign(ended.location)
      else await navigate({ to: '/sign-in' })
    }
    // Nobody may take the sign-in page for a session that has ended.
    leave().catch(notifyFailed)
  }
}

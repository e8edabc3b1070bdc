/** Layout of the pages outside the shell. */
import { Box, Button, Group, Stack, Text, Title } from '@mantine/core'
import { type ReactNode, useEffect } from 'react'
import { useLanguage } from '../../lib/i18n.tsx'
import { LANGUAGES } from '../../lib/language.ts'
import classes from './frame.module.css'

interface FrameProps {
  readonly title: string
  readonly text?: ReactNode
  readonly children: ReactNode
}

export function SignInFrame({ title, text, children }: FrameProps) {
  const { language, choose } = useLanguage()
  const other = language === 'en' ? 'zh' : 'en'
  useEffect(() => {
    document.title = `${title} · Tributary`
  }, [title])
  return (
    <main className={classes.page}>
      <Box className={classes.sheet}>
        <Stack gap={4} mb="lg">
          <Text size="sm" fw={600} c="river">
            Tributary
          </Text>
          <Title order={1}>{title}</Title>
          {text ? (
            <Text size="sm" c="dimmed" component="div">
              {text}
            </Text>
          ) : null}
        </Stack>
        {children}
      </Box>
      <Group justify="center" mt="md">
        <Button variant="subtle" size="compact-xs" lang={other} onClick={() => choose(other)}>
          {LANGUAGES[other]}
        </Button>
      </Group>
    </main>
  )
}

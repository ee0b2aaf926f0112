// The frame and the sheet of the pages without a session, with the switches of language and theme.
import { Languages, Monitor, Moon, Sun } from 'lucide-react'
import type { ReactNode } from 'react'
import { useTranslation } from 'react-i18next'
import { chooseLanguage, currentLanguage } from '../../runtime/language.ts'
import type { Language } from '../../runtime/preferences.ts'
import { chooseTheme, themes, useTheme } from '../../runtime/theme.ts'
import { Button } from '../../ui/Button.tsx'
import { Sheet } from '../../ui/Sheet.tsx'
import { useErrorToast } from '../../ui/Toasts.tsx'

const icons = { system: Monitor, light: Sun, dark: Moon } as const

export function GuestSheet(props: {
  readonly title: string
  readonly lead?: ReactNode
  readonly children?: ReactNode
}) {
  const { t } = useTranslation()
  return (
    <div className="flex min-h-dvh flex-col">
      <header className="mx-auto flex w-full max-w-md items-center gap-1 px-4 py-3">
        <p className="me-auto font-serif text-lg font-semibold">{t('console.title')}</p>
        <Switches />
      </header>
      <main id="content" className="mx-auto w-full max-w-md flex-1 px-4 pt-4 pb-12">
        <Sheet {...props} />
      </main>
    </div>
  )
}

function Switches() {
  const { t } = useTranslation()
  const showError = useErrorToast()
  const theme = useTheme()
  const Icon = icons[theme]
  const next = themes[(themes.indexOf(theme) + 1) % themes.length] ?? 'system'
  const label = t('theme.now', { theme: t(`theme.${theme}`) })
  const other: Language = currentLanguage() === 'ru' ? 'en' : 'ru'
  return (
    <>
      <Button
        tone="quiet"
        isSmall
        icon={Languages}
        lang={other}
        onClick={() => void chooseLanguage(other).catch(showError)}
      >
        {t(`language.${other}`)}
      </Button>
      <Button
        tone="quiet"
        isSmall
        aria-label={label}
        title={label}
        onClick={() => chooseTheme(next)}
      >
        <Icon aria-hidden className="size-4.5" />
      </Button>
    </>
  )
}

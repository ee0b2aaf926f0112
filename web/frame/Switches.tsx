// The switches for language and theme on pages without a session; owners have the account menu.
import { Languages, Monitor, Moon, Sun } from 'lucide-react'
import { useTranslation } from 'react-i18next'
import { currentLanguage } from '../runtime/language.ts'
import type { Language } from '../runtime/preferences.ts'
import { useChooseLanguage } from '../runtime/session.ts'
import { chooseTheme, themes, useTheme } from '../runtime/theme.ts'
import { Button, ButtonAnchor } from '../ui/Button.tsx'
import { useErrorToast } from '../ui/Toasts.tsx'

const icons = { system: Monitor, light: Sun, dark: Moon } as const

/**
 * Names the other language in that language, for visitors who cannot read this one. Without scripts
 * it is a link, which the server answers in that language and remembers.
 */
export function LanguageSwitch() {
  const { t } = useTranslation()
  const choose = useChooseLanguage()
  const showError = useErrorToast()
  const other: Language = currentLanguage() === 'ru' ? 'en' : 'ru'
  return (
    <ButtonAnchor
      tone="quiet"
      isSmall
      icon={Languages}
      lang={other}
      hrefLang={other}
      href={`?lang=${other}`}
      onClick={(event) => {
        // An address that names a language would bring it back at the next visit: follow the link.
        const isNamed = /[?&]lang=/.test(window.location.search)
        if (isNamed || event.metaKey || event.ctrlKey || event.shiftKey) return
        event.preventDefault()
        void choose(other).catch(showError)
      }}
    >
      {t(`language.${other}`)}
    </ButtonAnchor>
  )
}

/** Cycles through the three themes: a menu would be most of what a guest's first visit loads. */
export function ThemeSwitch() {
  const { t } = useTranslation()
  const theme = useTheme()
  const Icon = icons[theme]
  const next = themes[(themes.indexOf(theme) + 1) % themes.length] ?? 'system'
  const label = t('theme.now', { theme: t(`theme.${theme}`) })
  return (
    <Button tone="quiet" isSmall aria-label={label} title={label} onClick={() => chooseTheme(next)}>
      <Icon aria-hidden className="size-4.5" />
    </Button>
  )
}

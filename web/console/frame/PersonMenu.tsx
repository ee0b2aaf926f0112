// The menu of the person who is signed in: name and role, language, theme and sign-out.
import { useQueryClient } from '@tanstack/react-query'
import { useRouter } from '@tanstack/react-router'
import { CircleUser, KeyRound, LogOut } from 'lucide-react'
import { useTranslation } from 'react-i18next'
import type { Me } from '../../../src/operator/console/contract/contract.ts'
import { chooseLanguage, currentLanguage } from '../../runtime/language.ts'
import { type Language, languages } from '../../runtime/preferences.ts'
import { chooseTheme, type Theme, themes, useTheme } from '../../runtime/theme.ts'
import { Button } from '../../ui/Button.tsx'
import { Menu, MenuChoice, MenuItem, MenuLine } from '../../ui/Menu.tsx'
import { useErrorToast } from '../../ui/Toasts.tsx'
import { call } from '../call.ts'
import { paths } from '../paths.ts'

export function PersonMenu({ me }: { readonly me: Me }) {
  const { t } = useTranslation()
  const client = useQueryClient()
  const router = useRouter()
  const theme = useTheme()
  const showError = useErrorToast()

  async function signOut(): Promise<void> {
    await call('POST /api/sign-out')
    // Another person may sign in here next: nothing that was read stays.
    client.clear()
    await router.invalidate()
  }

  return (
    <Menu
      trigger={
        <Button tone="quiet" isSmall aria-label={t('console.menu')} title={t('console.menu')}>
          <CircleUser aria-hidden className="size-5" />
        </Button>
      }
    >
      <div className="max-w-72 px-3 py-1.5">
        <p className="font-medium wrap-anywhere">{me.name}</p>
        <p className="text-sm text-soft wrap-anywhere">
          {me.email} · {t(`console.role.${me.role}`)}
        </p>
      </div>
      <MenuLine />
      <MenuItem icon={KeyRound} onSelect={() => void router.navigate({ to: paths.own })}>
        {t('console.own.title')}
      </MenuItem>
      <MenuLine />
      <MenuChoice
        label={t('menu.language')}
        value={currentLanguage()}
        onChange={(value) => void chooseLanguage(value as Language).catch(showError)}
        options={languages.map((value) => ({ value, label: t(`language.${value}`), lang: value }))}
      />
      <MenuLine />
      <MenuChoice
        label={t('menu.theme')}
        value={theme}
        onChange={(value) => chooseTheme(value as Theme)}
        options={themes.map((value) => ({ value, label: t(`theme.${value}`) }))}
      />
      <MenuLine />
      <MenuItem icon={LogOut} onSelect={() => void signOut().catch(showError)}>
        {t('menu.signOut')}
      </MenuItem>
    </Menu>
  )
}

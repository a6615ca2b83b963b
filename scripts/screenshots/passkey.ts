import type { CDPSession, Page } from 'playwright-core';

/** An authenticator of the browser's own; where it is not touched, what asks for it waits. */
async function plug(page: Page, isTouched: boolean): Promise<CDPSession> {
  const cdp = await page.context().newCDPSession(page);
  await cdp.send('WebAuthn.enable');
  await cdp.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'usb',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: isTouched,
    },
  });
  return cdp;
}

/** A person with one passkey. */
export async function enrol(page: Page, url: string): Promise<void> {
  await plug(page, true);
  await page.goto(`${url}/passkeys`);
  await page.getByRole('button', { name: 'Add a passkey' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Name of the passkey').fill('Laptop, touch sensor');
  await dialog.getByRole('button', { name: 'Create' }).click();
  await page.getByRole('dialog', { name: 'Passkey enrolled' }).waitFor();
}

/** Presses the key that signs; the browser then waits for an authenticator that no one touches. */
export async function startSigning(page: Page): Promise<void> {
  await plug(page, false);
  await page.waitForTimeout(600);
  await page.keyboard.press('a');
  await page.getByText('Waiting for your passkey').waitFor();
}

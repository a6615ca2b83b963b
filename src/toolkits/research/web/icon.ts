import type { IconName } from '../../../web/ui/icon.tsx';

const icon: IconName = 'passage';
export default icon;
